"""Sessions over the wire: K3's engines behind the session protocol."""
