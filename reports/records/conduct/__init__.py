"""How something behaves: a server that follows the session protocol, a test suite that passes."""
