// Map widget of a notebook. MODULES holds the files of the map component by name, and their requests go
// through the kernel as messages. Python puts MODULES before this text.

/** Load the files once per page as modules, imported ones first. */
function load(entry, modules, addresses = {}, importers = []) {
  if (importers.includes(entry)) throw new Error(`circular import of modules: ${[...importers, entry].join(", ")}`);
  if (!addresses[entry]) {
    const text = modules[entry].replace(/^((?:import|export)\b[^;"]*from\s+)"\.\/([\w-]+\.js)"/gm, (_, from, name) => {
      load(name, modules, addresses, [...importers, entry]);
      return `${from}"${addresses[name]}"`;
    });
    addresses[entry] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return addresses;
}

function loadModules() {
  const versions = (globalThis.hetvizModules ??= new Map());
  if (!versions.has(VERSION)) {
    const addresses = load("map.js", MODULES);
    versions.set(VERSION, Promise.all([import(addresses["map.js"]), import(addresses["requests.js"])]));
  }
  return versions.get(VERSION);
}

/** A request handler that sends requests to the kernel, and a function that disconnects it. */
function connectKernel(model) {
  const waiting = new Map();
  let last = 0;
  const onMessage = (content, buffers) => {
    const done = waiting.get(content.response);
    if (!done) return;
    waiting.delete(content.response);
    const whole = content.status === 200 ? buffers[0] : null;
    done(new Response(whole, { status: content.status, headers: { "Content-Type": content.media_type ?? "" } }));
  };
  model.on("msg:custom", onMessage);
  const handler = (path, { body = null } = {}) => new Promise((done) => {
    const id = `${Math.random().toString(36).slice(2)}-${last += 1}`;
    waiting.set(id, done);
    model.send({ request: id, path }, undefined, body ? [body] : []);
  });
  return [handler, () => model.off("msg:custom", onMessage)];
}

export default {
  async initialize({ model }) {
    const [, requests] = await loadModules();
    const [handler, stopListening] = connectKernel(model);
    const removeHandler = requests.setRequestHandler(model.get("_spec").session, handler);
    return () => { removeHandler(); stopListening(); };
  },

  async render({ model, el }) {
    // JupyterLab would handle the keys of the map as its own commands.
    el.dataset.lmSuppressShortcuts = "true";
    const root = document.createElement("div");
    root.className = "hv-map";
    el.append(root);
    const [{ mount }] = await loadModules();
    const callbacks = {
      setStateValue(name, value) {
        if (name !== "selection" && name !== "hidden") return;
        model.set(`_${name}`, value);
        model.save_changes();
      },
      setTriggerValue: (name, value) => model.send({ trigger: name, value }),
    };
    const show = () => mount(root, { ...callbacks, data: model.get("_spec") });
    let unmount = show();
    const changed = () => { unmount = show(); };
    model.on("change:_spec", changed);
    return () => {
      model.off("change:_spec", changed);
      root.remove();
      unmount();
    };
  },
};
