"""What a verifier over a bounded cache keeps, evicts and puts back, on any backend; arrays come from outside."""
