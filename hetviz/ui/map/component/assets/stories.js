// Saved views: presented one after the other, and shown as the state of the project.

import { closePopover } from "./popovers.js";
import { send } from "./page_change.js";
import { Presenter } from "./presenter.js";
import { set } from "./dom.js";

/** @import { HetMap } from "./map.js" */
/** @import { MapSpec, StoryLegend } from "./messages.js" */
/** @import { Place } from "./scene.js" */

const VIEW_MS = 900;

export class Stories {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {number | null} Number of the last view that was shown. */
    this.number = null;
    /** @type {{ place: Place | null, colours: string, legend: StoryLegend } | null} What the presentation began with. */
    this.before = null;
    this.presenter = new Presenter((at) => this.ask(at), () => this.ask(null));
    this.element = this.presenter.element;
  }

  /** @param {number | null} at */
  ask(at) { send(() => this.map.component.setTriggerValue("present", { at })); }

  /** Tell Python which part of the map is in sight, before a view is saved. */
  report() {
    const { map, scene } = this;
    const { view, data, isGeography } = scene;
    const { left, top, right, bottom } = view.clear;
    const camera = view.zoomed && !isGeography
      ? { x: [view.dataX(left), view.dataX(view.W - right)], y: [view.dataY(view.H - bottom), view.dataY(top)] } : null;
    send(() => map.component.setStateValue("seen", { camera, legend: this.legend(), geography: isGeography, map: data.geometry.id }));
  }

  /** @returns {StoryLegend} */
  legend() {
    const { hiddenCodes, isolated, range } = this.map.legend;
    return { hidden: [...hiddenCodes], only: [...isolated.code], datasets: [...isolated.set], range };
  }

  /** Before the other parts take the colours and items of a view. @param {MapSpec} data */
  prepare(data) {
    const { scene } = this;
    const isPresenting = typeof data.story?.at === "number";
    if (isPresenting && !this.before && scene.data) {
      this.before = { place: scene.view.zoomed ? scene.view.at() : null, colours: scene.data.colour.option, legend: this.legend() };
    }
    set(document.documentElement, { "data-hv-presenting": isPresenting ? "" : null });
  }

  /** After they have taken them. @param {MapSpec} data */
  receive(data) {
    const { map, number } = this;
    const { story } = data;
    if (!story || story.number === number) return;
    this.number = story.number;
    // A map that comes back to the page shows what it showed.
    if (number === null && story.at === null) return;
    closePopover("stories");
    const { before } = this;
    if (typeof story.at === "number") {
      this.presenter.show({ at: story.at, n: story.n, text: story.text, facts: story.facts, notes: story.notes });
      map.camera.resize();
      map.camera.clear();
      this.show(story.legend, story.camera && map.camera.around(story.camera));
    } else if (before) {
      this.before = null;
      this.presenter.hide();
      map.camera.resize();
      map.camera.clear();
      this.show(before.colours === data.colour.option ? before.legend : null, before.place);
    } else this.show(story.legend, story.camera && map.camera.around(story.camera));
  }

  /** @param {StoryLegend | null} legend @param {Place | null} place null for the whole map */
  show(legend, place) {
    const { map } = this;
    Object.assign(map.legend, {
      hiddenCodes: new Set(legend?.hidden), range: legend?.range ?? null,
      isolated: { set: new Set(legend?.datasets), code: new Set(legend?.only) },
    });
    map.layers.update();
    map.legend.update();
    map.camera.fly(place ?? map.camera.home, VIEW_MS, place !== null);
    map.requestDraw({ paint: true, place: true });
  }

  close() {
    this.presenter.hide();
    set(document.documentElement, { "data-hv-presenting": null });
  }
}
