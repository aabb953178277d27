"""What reports say in words, the same on the page and in Markdown."""

INTRODUCTION = """\
Made by `confdiff report` from finished trials. Accuracy on the test items, mean of the last 10 epochs; mean and
standard deviation (n - 1) over trials, their number in brackets; below it the paper's number and, where there are at
least three trials of its 200 epochs, the verdict: `=` within two combined standard deviations or .01 of the printed
number, `+` above, `-` below. Bold is the best, oracles apart. Pcomp pairs are ordered by their labels, (-, +) pairs
reversed."""

GLANCE = """\
How many trials there are, the verdicts on cells with at least three of them, and for how many pairs of a data set and a
prior each of the paper's methods is the best of them, oracles apart."""
UNJUDGED = "No verdicts: these take three trials of the paper's 200 epochs, and a printed number."
PARTS_TITLE = "On other data, or a part of it"
PARTS = """\
Data sets that the paper does not have, or other numbers of pairs or pictures than its own; its number stands beside
ours where there is one, and there is no verdict."""
RANKINGS = """\
The latest positive of each user (drawn by chance where there is no time) is ranked among sampled candidates, as in the
paper, whose number stands below, and (full) among all items that were not in that user's training. Mean and standard
deviation over trials; best NDCG first."""
ORACLES = """\
Methods that can do without the class prior, told it and not, between ConfDiff-ABS and Oracle-Soft, which are told
everything they need. Differences are means over the trials that both have, on the same pairs."""
STUDY = """\
Accuracy as above, trials in brackets; + or green above and - or red below ConfDiff-ABS on the same pairs (paired t-test
over trials, 5 %), = or white neither. Conditions were chosen before any of it was run."""
READINGS = """\
What the paper reads from the figure, for which it prints no numbers but those of its tables. Trials with the same
seeds, paired t-test, 5 %; similar and comparable mean within .01; no verdict below three trials. Printed is the
paper's number for the second, where its tables have one."""
