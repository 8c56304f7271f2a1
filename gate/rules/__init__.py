"""The rules, a package a family; importing a module declares its rules."""
