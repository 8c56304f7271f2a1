"""How something behaves: a server that follows the session protocol, a test suite, a report that is run again."""
