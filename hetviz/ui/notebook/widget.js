// The map in a notebook. MODULES holds the component's own files by name; whatever they ask for goes
// through the kernel, as messages. Python puts MODULES before this text.

/** Load the files once for the page: each as a module of its own, those it imports first. */
function load(entry, modules, addresses = {}, under = []) {
  if (under.includes(entry)) throw new Error(`a circle of modules: ${[...under, entry].join(", ")}`);
  if (!addresses[entry]) {
    const text = modules[entry].replace(/(from\s+)"\.\/([\w-]+\.js)"/g, (_, from, name) => {
      load(name, modules, addresses, [...under, entry]);
      return `${from}"${addresses[name]}"`;
    });
    addresses[entry] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return addresses;
}

function component() {
  const loaded = (globalThis.hetvizModules ??= new Map());
  if (!loaded.has(VERSION)) {
    const addresses = load("map.js", MODULES);
    loaded.set(VERSION, Promise.all([import(addresses["map.js"]), import(addresses["ask.js"])]));
  }
  return loaded.get(VERSION);
}

/** As `fetch`, answered by the kernel. */
function doorOf(model) {
  const waiting = new Map();
  let last = 0;
  const heard = (content, buffers) => {
    const done = waiting.get(content.answer);
    if (!done) return;
    waiting.delete(content.answer);
    const whole = content.status === 200 ? buffers[0] : null;
    done(new Response(whole, { status: content.status, headers: { "Content-Type": content.kind ?? "" } }));
  };
  model.on("msg:custom", heard);
  const door = (path, { body = null } = {}) => new Promise((done) => {
    const id = `${Math.random().toString(36).slice(2)}-${last += 1}`;
    waiting.set(id, done);
    model.send({ ask: id, path }, undefined, body ? [body] : []);
  });
  return [door, () => model.off("msg:custom", heard)];
}

export default {
  async initialize({ model }) {
    const [, ask] = await component();
    const [door, deaf] = doorOf(model);
    const shut = ask.answerFor(model.get("_spec").session, door);
    return () => { shut(); deaf(); };
  },

  async render({ model, el }) {
    // JupyterLab would take the map's keys for commands of its own.
    el.dataset.lmSuppressShortcuts = "true";
    const root = document.createElement("div");
    root.className = "hv-map";
    el.append(root);
    const [{ mount }] = await component();
    const said = {
      setStateValue(name, value) {
        if (name !== "selection" && name !== "hidden") return;
        model.set(`_${name}`, value);
        model.save_changes();
      },
      setTriggerValue: (name, value) => model.send({ trigger: name, value }),
    };
    const show = () => mount(root, { ...said, data: model.get("_spec") });
    let leave = show();
    const changed = () => { leave = show(); };
    model.on("change:_spec", changed);
    return () => {
      model.off("change:_spec", changed);
      root.remove();
      leave();
    };
  },
};
