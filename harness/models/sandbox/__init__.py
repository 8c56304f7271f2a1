"""What a stranger wrote and has to be computed: in a process apart, bounded in time and memory."""
