"""The command line: the module of a command is loaded when it is called."""
