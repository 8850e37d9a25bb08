"""Data that no memory holds, fitted by blocks of rows on one machine or several."""
