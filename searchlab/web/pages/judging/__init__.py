"""Pages of judging: topic sets, a topic, pools, and their forms."""
