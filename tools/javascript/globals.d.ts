// What the browser code expects of its page beyond the standard types.

interface ParentNode {
  querySelector(selectors: string): HTMLElement | null;
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>;
}

interface Element {
  closest(selectors: string): HTMLElement | null;
}

interface HTMLCanvasElement {
  // Null only if the canvas has a context of another kind.
  getContext(contextId: "2d"): CanvasRenderingContext2D;
}

interface HTMLElement {
  hvMap?: import("../../hetviz/ui/map/component/assets/map.js").HetMap | null;
  hvTabs?: import("../../hetviz/ui/map/component/assets/panel.js").Tabs;
  hvFinder?: boolean;
  __hv?: import("../../hetviz/ui/map/component/assets/map.js").HetMap["stats"];
}

interface Window {
  // State of the panel and of listeners on the page, shared by all components.
  hetviz: import("../../hetviz/ui/map/component/assets/panel.js").PageState;
  hetvizProposed?: import("../../hetviz/ui/map/component/assets/proposed_pairs.js").Store;
}

// Versions of the modules of a notebook.
declare var hetvizModules: Map<string, Promise<any>> | undefined;
// Put before the widget of a notebook by Python.
declare const MODULES: Record<string, string>;
declare const VERSION: string;
// Put before the map on other pages by Python.
declare const STYLE: any;
declare const SHEET: string;
declare const WorkerGlobalScope: any;
