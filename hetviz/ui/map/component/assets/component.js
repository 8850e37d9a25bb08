// The parts that a page of the app mounts. The app serves this file with all imports in it.

import { mount as help_search } from "./help_search.js";
import { mount as map } from "./map.js";
import { mount as panel } from "./panel.js";
import { mount as proposed_pairs } from "./proposed_pairs.js";
import { mount as show_me } from "./show_me.js";

export { help_search, map, panel, proposed_pairs, show_me };
