"""`unjudged check`: what is wrong with judgments and runs, in codes and sentences, and repaired copies."""
