"""What Help lists: the places, the keys, and the words that the screen uses alike everywhere."""

from __future__ import annotations

PAGES_HELP = (
    ("Start", "open a sample, or drop your own files: tables, matrices, pictures, links"),
    ("Data", "see how the files were read, link datasets, add more"),
    ("Map", "select items, filter, and see what is near and linked; other maps are in the film"),
    ("Guidance", "beside the map: what was said, how far the map keeps it, and Ask me"),
    ("Clusters", "beside the map: its regions, and clusters of your own"),
    ("Predict", "beside the map: links and labels that may be missing"),
    ("Compare", "run methods on the same data, and see which map to believe"),
    ("Export", "figures for print, tables, a report, and all that makes a map again"),
)

KEYS = (
    ("V, L, R, D", "move, lasso, box, drag an item"),
    ("Click", "select an item; on nothing: select nothing"),
    ("Shift or Ctrl + click", "add to the selection"),
    ("Alt + click", "take out of the selection"),
    ("Shift + drag", "lasso, from any tool"),
    ("A, B", "make a group of what is selected"),
    ("T, X", "the groups: together, apart; again: add"),
    ("C", "A closer to B than to what is selected"),
    ("G or K", "name group A"),
    ("F", "show only what the selection is linked with"),
    ("I, 1 to 4", "the panel, and its tabs"),
    ("F6", "to the next part of the screen"),
    ("Arrows", "move the map; inside a list or toolbar: walk in it"),
    ("+ and −", "zoom"),
    ("0 or double click", "all of the map"),
    ("N and P", "step through selected or near items"),
    ("Enter", "say what the bar holds; else select the item stepped to, or in the middle"),
    ("Ctrl + A", "select all that is in view"),
    ("Ctrl + Z", "undo; with Shift, redo"),
    ("/", "find an item, or a place"),
    ("Esc", "one step back; at last nothing is selected"),
    ("Left, Right, S", "answer Ask me, or cannot say"),
    ("Y, N, S", "accept, reject or put off a predicted link"),
    ("?", "this help"),
)

GLOSSARY = (
    ("Dataset", "items of one kind, such as emoji, with the same features"),
    ("Item", "one row of a dataset: what a point or picture on the map stands for"),
    ("Feature", "what is known of an item itself: a number, a category, a text, a picture"),
    ("Link", "says that two items belong together, or with a weight below zero, apart"),
    ("Comparison", "says that one item is nearer to a second than to a third"),
    ("Label", "a category that you gave an item"),
    ("Guidance", "all that was said of how items relate: links, comparisons, labels"),
    ("Method", "makes a map of data and guidance"),
    ("Map", "places of all items such that what belongs together lies near"),
    ("Kept", "a link is kept where the map draws its ends among the nearest 5 %"),
    ("Held out", "not shown to the method, to see whether the map keeps it all the same"),
    ("Conflict", "guidance that cannot all be kept at once"),
    ("Trust", "how many of an item's true neighbours the map draws near it"),
    ("Region", "a part of the map with its name, found by itself"),
    ("Cluster", "a group of items that you had found, and can rename, merge and save"),
)
"""Fifteen at most."""
