"""Every option once: its name, type, default, help and check, for the command line, studies, report and page."""
