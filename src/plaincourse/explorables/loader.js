// Brings the explorables of a built page to life. Each module registered its text before this script runs;
// a browser refuses to import a file from file://, but it imports a Blob made from that text.
(() => {
  // The part of a widget's model that the modules use: get, set, on, off, save_changes.
  function makeModel(state) {
    const listeners = new Map();
    return {
      get: (name) => state[name],
      set(name, value) {
        if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
        state[name] = value;
        for (const listener of [...(listeners.get(`change:${name}`) ?? [])]) listener();
      },
      on(event, listener) {
        listeners.set(event, [...(listeners.get(event) ?? []), listener]);
      },
      off(event, listener) {
        listeners.set(
          event,
          (listeners.get(event) ?? []).filter((other) => other !== listener),
        );
      },
      save_changes() {}, // there is no kernel to send them to
    };
  }

  const modules = new Map();
  function load(name) {
    if (!modules.has(name)) {
      const text = window.plainExplorables?.[name];
      if (text === undefined) throw new Error(`no module is called ${name}`);
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      modules.set(
        name,
        import(address).finally(() => URL.revokeObjectURL(address)),
      );
    }
    return modules.get(name);
  }

  async function mount(placeholder) {
    try {
      const { default: explorable } = await load(placeholder.dataset.module);
      const el = document.createElement("div");
      await explorable.render({ model: makeModel(JSON.parse(placeholder.dataset.state)), el });
      placeholder.replaceChildren(el);
      placeholder.dataset.live = "true";
    } catch (problem) {
      console.warn("This explorable stays a still picture:", problem);
    }
  }

  document.querySelectorAll(".plain-explorable[data-module]:not([data-live])").forEach(mount);
})();
