"""Export page: figures, pages, tables, recipes and the report."""

from hetviz.ui.export import files
from hetviz.ui.shell import background, navigation, recent, session, theme

state = session.workspace().state

if state.data is None:
    theme.show_headline(
        "Nothing to export yet", "Open a sample or your own files on the Start page."
    )
    navigation.show_link("start", "To the Start page")
elif state.run is None:
    if background.running_job() is None:
        headline = "No map to export yet", "Make one on the Map page first."
    else:
        headline = "The map is being made", "Its figures appear here when it is ready."
    theme.show_headline(*headline)
    navigation.show_link("map", "To the Map page")
    files.show_project_files(state)
else:
    # Imported late: it loads matplotlib.
    from hetviz.ui.export import page

    page.show(state, state.run)
    recent.record_project()
