"""What the gate found, as people and machines read it: text, JSON, JUnit, SARIF, GitHub, tables and the page."""
