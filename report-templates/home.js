"use strict";
(() => {
  const picker = document.getElementById("picker");
  if (!picker) return;
  const rows = Array.from(document.querySelectorAll("#answers-table tbody tr"));
  const said = document.getElementById("said");
  const map = document.getElementById("map");
  const { served } = JSON.parse(document.getElementById("page-data").textContent);
  const selects = Array.from(picker.elements).filter((one) => one.name);
  const database = selects.find((one) => one.name === "database");
  const axes = selects.filter((one) => one !== database && one.name !== "figure").map((one) => one.name);
  const glance = Array.from(document.querySelectorAll("#conditions a"), (link) => [link, document.querySelector(link.hash)]);
  const NUMBERS = new Set(["cpus", "burn_us", "wait_us"]);

  const make = (tag, className, ...children) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  };
  const of = (row, axis) => row.getAttribute(`data-${axis}`);
  const state = () => Object.fromEntries(selects.map((one) => [one.name, one.value]));
  const words = (axis, value) => {
    const select = selects.find((one) => one.name === axis);
    return Array.from(select.options).find((one) => one.value === value)?.text ?? value;
  };
  const figureOf = (row, figure) => row.querySelector(`[data-figure="${CSS.escape(figure)}"]`);

  // Only what the page itself offers is taken from an address: anything else in it means nothing.
  const fromAddress = () => {
    const host = selects.find((one) => one.name === "host");
    if (host.options[0].value === "") host.value = "";
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const select = selects.find((one) => one.name === name);
      if (select && Array.from(select.options).some((one) => one.value === value)) select.value = value;
    }
  };
  const toAddress = () => {
    const told = selects.filter((one) => one !== database && one.options.length > 1 && one.value !== "");
    const shown = told.map((one) => [one.name, one.value]);
    history.replaceState(null, "", `#${new URLSearchParams(shown)}`);
  };

  // No host in particular: the newest that was measured anywhere, which names its host.
  const fits = (row, axis, wanted) => of(row, axis) === wanted[axis] || (axis === "host" && wanted.host === "");
  const measured = (wanted) => rows.filter((row) => axes.every((axis) => fits(row, axis, wanted)));
  // How far from what was asked: another server, JDK, workload, load or host weighs more than any other size.
  const distance = (row, wanted) => axes.reduce((sum, axis) => {
    const [own, asked] = [of(row, axis), wanted[axis]];
    if (fits(row, axis, wanted)) return sum;
    return sum + (NUMBERS.has(axis) ? Math.abs(Math.log2((Number(own) + 10) / (Number(asked) + 10))) : 100);
  }, 0);
  const nearest = (wanted) =>
    rows.map((row) => [distance(row, wanted), row]).sort(([a], [b]) => a - b).slice(0, 3).map(([, row]) => row);

  const tiles = (row) => {
    const list = make("dl", "tiles");
    for (const cell of row.querySelectorAll("[data-figure]")) {
      const tile = make("div", cell.dataset.tone);
      tile.append(make("dt", "", cell.dataset.title, " ", make("small", "", "virtual / pool")));
      tile.append(make("dd", "", cell.querySelector("b").cloneNode(true), cell.querySelector("small").cloneNode(true)));
      list.append(tile);
    }
    return list;
  };

  const ways = (found, label) => {
    const list = make("ul", "nearest");
    for (const row of found) {
      const button = make("button", "", label(row));
      button.type = "button";
      button.addEventListener("click", () => choose(asState(row), button));
      list.append(make("li", "", button));
    }
    return list;
  };

  const answer = ([row, ...elsewhere], figure) => {
    const lead = row.querySelector("[data-figure]");
    const cell = figureOf(row, figure) ?? lead;
    const instead = cell === lead && figure !== lead.dataset.figure;
    const verdict = make("p", `verdict ${cell.dataset.side}`);
    const where = `On ${words("host", of(row, "host"))}: ${row.cells[0].textContent}. `;
    const missing = `Nothing to tell of “${words("figure", figure)}” here; this is ${cell.dataset.title}. `;
    verdict.append(make("span", "where", `${where}${instead ? missing : ""}`), make("b", "", cell.querySelector("p").textContent));
    said.replaceChildren(verdict, tiles(row), ...Array.from(row.querySelector(".rests").children, (one) => one.cloneNode(true)));
    if (elsewhere.length > 0) {
      said.append(make("p", "sub", "Measured on other hosts, too:"), ways(elsewhere, (one) => words("host", of(one, "host"))));
    }
  };

  const whyNot = (wanted) => {
    const here = served.find((one) => one.workload === wanted.workload && one.server === wanted.server);
    if (!served.some((one) => one.workload === wanted.workload)) {
      return `${wanted.workload} is no workload of this project. The page of its run has the command that measured it.`;
    }
    if (!here) return `${wanted.server} cannot serve ${wanted.workload}.`;
    return wanted.wait_us !== "0" && !here.waits ? `${wanted.workload} calls no remote system that could answer late.` : null;
  };
  const command = (wanted) => {
    const given = axes.filter((axis) => axis !== "host").map((axis) => {
      const unit = axis.endsWith("_us") ? "us" : "";
      return `--${axis.replace("_us", "")} ${wanted[axis]}${unit}`;
    });
    return `.venv/bin/matrix ask ${given.join(" ")}`;
  };

  const choose = (wanted, from) => {
    for (const select of selects) if (select.name in wanted) select.value = wanted[select.name];
    const inMap = map.contains(from);
    show();
    // What had the focus is gone: on to its place in the map, or to the answer.
    (inMap ? map.querySelector("[aria-current]") : said)?.focus();
  };
  const asState = (row) => Object.fromEntries(axes.map((axis) => [axis, of(row, axis)]));

  const notMeasured = (wanted) => {
    const found = [make("p", "verdict open", make("b", "", "Not measured under this condition."))];
    const reason = whyNot(wanted);
    const needs = `In a clone of the project, on a host with ${Number(wanted.cpus) + 1} CPUs or more, this says how long it takes, usually 20 to 30 minutes, and measures it if you agree:`;
    found.push(make("p", "", reason ?? needs), ...(reason ? [] : [make("pre", "", command(wanted))]));
    found.push(make("p", "", "The nearest conditions that were measured:"));
    const told = (row) => {
      const cell = figureOf(row, wanted.figure) ?? row.querySelector("[data-figure]");
      const ratio = `${cell.querySelector("b").textContent} (${cell.querySelector("small").textContent})`;
      return `${row.cells[0].textContent}: ${cell.dataset.title} ${ratio}`;
    };
    said.replaceChildren(...found, ways(nearest(wanted), told));
  };

  // One host only: that of the answer, where none was chosen. One driver only. Under the load picked; where that has one
  // condition alone, under the one that has the most.
  const around = (wanted) => {
    const free = (axis) => NUMBERS.has(axis) || axis === "load";
    const all = rows.filter((row) => axes.every((axis) => free(axis) || fits(row, axis, wanted)));
    const host = wanted.host || (measured(wanted)[0] ?? all[0])?.getAttribute("data-host");
    const byLoad = new Map();
    for (const row of all.filter((one) => of(one, "host") === host)) {
      const load = `${of(row, "load")}, by ${of(row, "driver")}`;
      byLoad.set(load, [...(byLoad.get(load) ?? []), row]);
    }
    const groups = [...byLoad.values()];
    const [answered] = measured(wanted);
    const under = groups.find((some) => some.includes(answered)) ?? groups.find((some) => of(some[0], "load") === wanted.load) ?? [];
    const most = groups.reduce((one, other) => (other.length > one.length ? other : one), []);
    return { host, here: under.length > 1 ? under : most };
  };

  // Where virtual threads win: remote delay across, CPUs and task duration down, all else as picked.
  const draw = (wanted) => {
    const { host, here } = around(wanted);
    const values = (axis) => [...new Set(here.map((row) => of(row, axis)))].sort((a, b) => a - b);
    const [waits, cpus, burns] = [values("wait_us"), values("cpus"), values("burn_us")];
    map.hidden = here.length < 2;
    if (map.hidden) return;
    const shown = here.some((row) => figureOf(row, wanted.figure)) ? wanted.figure : here[0].querySelector("[data-figure]").dataset.figure;
    const across = waits.length > 1 || burns.length === 1 ? "wait_us" : "burn_us";
    const columns = across === "wait_us" ? waits : burns;
    const sizes = cpus.flatMap((cpu) => (across === "wait_us" ? burns : waits).map((other) => [cpu, other]));
    const place = (cpu, other, column) => {
      const asked = { cpus: cpu, [across]: column, [across === "wait_us" ? "burn_us" : "wait_us"]: other };
      return here.find((row) => Object.entries(asked).every(([axis, value]) => of(row, axis) === value));
    };
    const head = make("tr", "", make("th", "", "CPUs"), ...columns.map((value) => make("th", "", words(across, value))));
    const body = sizes.map(([cpu, other]) => {
      const size = across === "wait_us" && burns.length > 1 ? `${cpu}, ${words("burn_us", other)}` : cpu;
      const cells = columns.map((column) => {
        const row = place(cpu, other, column);
        const figure = row && figureOf(row, shown);
        if (!figure) return make("td", "none", "–");
        const button = make("button", "", make("b", "", figure.querySelector("b").textContent));
        const sentence = figure.querySelector("p").textContent;
        button.append(make("span", "", figure.querySelector("small").textContent));
        button.append(make("span", "unseen", ` ${row.cells[0].textContent}: ${sentence}`));
        button.type = "button";
        button.title = sentence;
        if (axes.every((axis) => fits(row, axis, wanted))) button.setAttribute("aria-current", "true");
        button.addEventListener("click", () => choose(asState(row), button));
        return make("td", figure.dataset.tone, button);
      });
      return make("tr", "", make("th", "", size), ...cells);
    });
    const table = make("table", "heat", make("thead", "", head), make("tbody", "", ...body));
    for (const one of table.querySelectorAll("thead th")) one.scope = "col";
    for (const one of table.querySelectorAll("tbody th")) one.scope = "row";
    const load = of(here[0], "load");
    const title = `${words("figure", shown)} by CPUs and ${across === "wait_us" ? "remote delay" : "task duration"}, virtual threads / pool, under ${load}, by ${of(here[0], "driver")}`;
    const other = load === wanted.load ? "" : `Under ${wanted.load} too little was measured for a map; this is ${words("load", load)}. `;
    const scroll = make("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", title);
    map.replaceChildren(make("h3", "", title), make("div", "heats", make("div", "", scroll)),
      make("p", "sub", `${other}On ${words("host", host)}. Orange: virtual threads are better in this figure. Blue: the pool is. No colour: no difference seen, or one within 2 %. Dotted frame: cannot tell, because the interval does not exclude a difference that would matter. Hatched: not enough evidence. Amber frame: not judged, because the two lost different numbers of forks, or gates refused one more often.`));
  };

  // The database is the workload's.
  const databases = new Map([
    ...served.map((one) => [one.workload, one.database]),
    ...rows.map((row) => [of(row, "workload"), of(row, "database")]),
  ]);
  const workloads = selects.find((one) => one.name === "workload");
  const having = (value) => Array.from(workloads.options, (one) => one.value).filter((name) => databases.get(name) === value);

  // What some row has, and none beside all else that is picked.
  const mark = (wanted) => {
    for (const select of selects.filter((one) => one === database || axes.includes(one.name))) {
      for (const option of select.options) {
        const elsewhere = rows.some((row) => of(row, select.name) === option.value);
        const asked = select === database ? having(option.value).map((workload) => ({ workload })) : [{ [select.name]: option.value }];
        const here = asked.some((one) => measured({ ...wanted, ...one }).length > 0);
        option.removeAttribute("label");
        if (elsewhere && !here) option.label = `${option.text} (not measured with this selection)`;
      }
    }
  };

  // Picking one picks a workload that has it, if possible one that is measured beside all else that is picked, or can be.
  database?.addEventListener("input", () => {
    const able = having(database.value), wanted = state();
    const here = able.find((workload) => measured({ ...wanted, workload }).length > 0);
    workloads.value = here ?? able.find((workload) => whyNot({ ...wanted, workload }) === null) ?? able[0] ?? wanted.workload;
  });

  const show = () => {
    const wanted = state();
    if (database) database.value = databases.get(wanted.workload);
    const found = measured(wanted);
    mark(wanted);
    if (found.length > 0) answer(found, wanted.figure);
    else notMeasured(wanted);
    for (const [link, row] of glance) {
      if (row === found[0]) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    draw(wanted);
    toAddress();
  };

  const isState = () => location.hash.includes("=");
  if (isState()) {
    fromAddress();
    show();
  } else {
    mark(state());
    if (glance.length === 0) draw(state());
  }
  for (const [link, row] of glance) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      choose({ ...asState(row), figure: row.querySelector("[data-figure]").dataset.figure }, link);
    });
  }
  for (const select of selects) select.addEventListener("input", show);
  window.addEventListener("hashchange", () => { if (isState()) { fromAddress(); show(); } });
  picker.addEventListener("submit", (event) => event.preventDefault());
})();
