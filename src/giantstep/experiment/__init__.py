"""The nouns of an experiment: data, target, network, protocol and the setting that holds them; and how samples are drawn."""
