"use strict";
(() => {
  const picker = document.getElementById("picker");
  if (!picker) return;
  const rows = all("#answers-table tbody tr");
  const said = document.getElementById("said");
  const map = document.getElementById("map");
  const colours = map?.textContent.trim(); // what they mean stands in the map's place
  map?.replaceChildren();
  const { served, own, other_jdks, other_loads } = JSON.parse(document.getElementById("page-data").textContent);
  const selects = Array.from(picker.elements).filter((one) => one.name);
  const { host: hosts, workload: workloads, database } = picker.elements;
  const axes = selects.filter((one) => one !== database && one.name !== "figure").map((one) => one.name);
  const glance = all("#conditions a").map((link) => [link, document.querySelector(link.hash)]);
  const NUMBERS = new Set(["cpus", "burn_us", "wait_us"]);

  const of = (row, axis) => row.getAttribute(`data-${axis}`);
  const severalHosts = new Set(rows.map((row) => of(row, "host"))).size > 1;
  const state = () => Object.fromEntries(selects.map((one) => [one.name, one.value]));
  const words = (axis, value) => Array.from(picker.elements[axis].options).find((one) => one.value === value)?.text ?? value;
  const figureOf = (row, figure) => row.querySelector(`[data-figure="${CSS.escape(figure)}"]`);
  const leadOf = (row) => figureOf(row, of(row, "lead"));
  const textOf = (cell, tag) => cell.querySelector(tag).textContent; // "b": the ratio, "small": its interval, "p": a sentence
  const verdict = (side, ...content) => make("p", { className: `verdict ${side}` }, ...content);

  // Only what the page itself offers is taken from an address: anything else in it means nothing.
  const fromAddress = () => {
    if (hosts.options[0].value === "") hosts.value = "";
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

  // A button that picks the condition of a row.
  const way = (row, properties, ...content) => {
    const button = make("button", { type: "button", ...properties }, ...content);
    button.addEventListener("click", () => choose(asState(row), button));
    return button;
  };
  const ways = (found, label) => make("ul", { className: "nearest" }, ...found.map((row) => make("li", {}, way(row, {}, label(row)))));

  const figuresOf = (row) => [...new Set([leadOf(row), ...all("[data-figure]", row)])]; // the leading one first
  const tile = (cell) => make("div", { className: cell.dataset.tone },
    make("dt", {}, cell.dataset.title, " ", make("small", {}, "virtual / pool")),
    make("dd", {}, make("b", {}, textOf(cell, "b")), make("small", {}, textOf(cell, "small"))));

  const answer = ([row, ...elsewhere], figure) => {
    const cell = figureOf(row, figure) ?? leadOf(row);
    const where = `On ${words("host", of(row, "host"))}: ${row.cells[0].textContent}. `;
    const missing = `No figure for “${words("figure", figure)}” here; this is ${cell.dataset.title}. `;
    const place = make("span", { className: "where" }, where, cell.dataset.figure === figure ? "" : missing);
    said.replaceChildren(
      verdict(cell.dataset.side, place, make("b", {}, textOf(cell, "p"))),
      make("dl", { className: "tiles" }, ...figuresOf(row).map(tile)),
      ...Array.from(row.querySelector(".rests").children, (one) => one.cloneNode(true)),
    );
    if (elsewhere.length > 0) {
      const others = ways(elsewhere, (one) => words("host", of(one, "host")));
      said.append(make("p", { className: "sub" }, "Also measured on other hosts:"), others);
    }
  };

  const ON_ITS_PAGE = "The page of its run has the command that measured it.";

  const whyNot = (wanted) => {
    const here = served.find((one) => one.workload === wanted.workload && one.server === wanted.server);
    if (!served.some((one) => one.workload === wanted.workload)) {
      const what = own.includes(wanted.workload) ? "not a workload of this project" : "a variant that no profile names";
      return `${wanted.workload} is ${what}. ${ON_ITS_PAGE}`;
    }
    for (const [name, gone, what] of [[wanted.jdk, other_jdks, "JDKs"], [wanted.load, other_loads, "loads"]]) {
      if (gone.includes(name)) return `${name} is not among this project’s ${what} today. ${ON_ITS_PAGE}`;
    }
    if (!here && rows.some((row) => ["workload", "server"].every((axis) => of(row, axis) === wanted[axis]))) {
      return `${wanted.server} no longer serves ${wanted.workload} here. ${ON_ITS_PAGE}`;
    }
    if (!here) return `${wanted.server} cannot serve ${wanted.workload}.`;
    if (wanted.burn_us !== "0" && !here.burns) return "No work can be added to the requests of your own application.";
    return wanted.wait_us !== "0" && !here.waits ? `${wanted.workload} calls no remote system that could answer late.` : null;
  };
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const command = (wanted) => {
    const given = axes.filter((axis) => axis !== "host").map((axis) => {
      const unit = axis.endsWith("_us") ? "us" : "";
      return `--${axis.replace("_us", "")} ${quoted(`${wanted[axis]}${unit}`)}`;
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
    const reason = whyNot(wanted);
    const needs = `In a clone of the project, on a host with ${Number(wanted.cpus) + 1} CPUs or more, this command says how long the measurement takes, usually 20 to 30 minutes, and runs it if you agree:`;
    const told = (row) => {
      const cell = figureOf(row, wanted.figure) ?? leadOf(row);
      const where = severalHosts ? `, ${words("host", of(row, "host"))}` : "";
      return `${row.cells[0].textContent}${where}: ${cell.dataset.title} ${textOf(cell, "b")} (${textOf(cell, "small")})`;
    };
    said.replaceChildren(
      verdict("open", make("b", {}, "Not measured under this condition.")),
      make("p", {}, reason ?? needs),
      ...(reason ? [] : [make("pre", {}, command(wanted))]),
      make("p", {}, "The nearest conditions that were measured:"),
      ways(nearest(wanted), told),
    );
  };

  // One host only: that of the answer, where none was chosen. One driver only. Under the load picked; where that has one
  // condition alone, under the one that has the most.
  const around = (wanted) => {
    const free = (axis) => NUMBERS.has(axis) || axis === "load";
    const alike = rows.filter((row) => axes.every((axis) => free(axis) || fits(row, axis, wanted)));
    const [answered] = measured(wanted);
    const host = wanted.host || (answered ?? alike[0])?.getAttribute("data-host");
    const there = alike.filter((row) => of(row, "host") === host);
    const groups = [...Map.groupBy(there, (row) => `${of(row, "load")}, by ${of(row, "driver")}`).values()];
    const under = groups.find((some) => some.includes(answered)) ?? groups.find((some) => of(some[0], "load") === wanted.load) ?? [];
    const most = groups.reduce((one, other) => (other.length > one.length ? other : one), []);
    return { host, here: under.length > 1 ? under : most };
  };

  // Where virtual threads win: remote delay across, CPUs and task duration down, all else as picked.
  const draw = (wanted) => {
    const { host, here } = around(wanted);
    map.hidden = here.length < 2;
    if (map.hidden) return;
    const values = (axis) => [...new Set(here.map((row) => of(row, axis)))].sort((a, b) => a - b);
    const shown = here.some((row) => figureOf(row, wanted.figure)) ? wanted.figure : leadOf(here[0]).dataset.figure;
    const byDelay = values("wait_us").length > 1 || values("burn_us").length === 1;
    const [across, down] = byDelay ? ["wait_us", "burn_us"] : ["burn_us", "wait_us"];
    const [columns, others] = [values(across), values(down)];
    const entry = (sizes) => {
      const row = here.find((one) => Object.entries(sizes).every(([axis, value]) => of(one, axis) === value));
      const figure = row && figureOf(row, shown);
      if (!figure) return make("td", { className: "none" }, "–");
      const sentence = textOf(figure, "p");
      const ariaCurrent = axes.every((axis) => fits(row, axis, wanted)) ? "true" : null;
      return make("td", { className: figure.dataset.tone }, way(row, { title: sentence, ariaCurrent },
        make("b", {}, textOf(figure, "b")),
        make("span", {}, textOf(figure, "small")),
        make("span", { className: "unseen" }, ` ${row.cells[0].textContent}: ${sentence}`)));
    };
    const heads = columns.map((value) => make("th", { scope: "col" }, words(across, value)));
    const body = values("cpus").flatMap((cpus) => others.map((other) => {
      const size = others.length > 1 ? `${cpus}, ${words(down, other)}` : cpus;
      const entries = columns.map((column) => entry({ cpus, [across]: column, [down]: other }));
      return make("tr", {}, make("th", { scope: "row" }, size), ...entries);
    }));
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "CPUs"), ...heads));
    const table = make("table", { className: "heat" }, head, make("tbody", {}, ...body));
    const load = of(here[0], "load");
    const title = `${words("figure", shown)} by CPUs and ${byDelay ? "remote delay" : "task duration"}, virtual threads / pool, under ${load}, by ${of(here[0], "driver")}`;
    const other = load === wanted.load ? "" : `Under ${wanted.load}, too little was measured for a map; this one is under ${words("load", load)}. `;
    const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title }, table);
    map.replaceChildren(make("h3", {}, title), make("div", { className: "heats" }, make("div", {}, scroll)),
      make("p", { className: "sub" }, `${other}On ${words("host", host)}. ${colours}`));
  };

  // The database is the workload's.
  const databases = new Map([
    ...served.map((one) => [one.workload, one.database]),
    ...rows.map((row) => [of(row, "workload"), of(row, "database")]),
  ]);
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
    for (const [link, row] of glance) link.ariaCurrent = row === found[0] ? "true" : null;
    draw(wanted);
    toAddress();
  };

  const toldByAddress = () => {
    if (!location.hash.includes("=")) return false;
    fromAddress();
    show();
    return true;
  };
  if (!toldByAddress()) {
    mark(state());
    if (glance.length === 0) draw(state());
  }
  for (const [link, row] of glance) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      choose({ ...asState(row), figure: leadOf(row).dataset.figure }, link);
    });
  }
  for (const select of selects) select.addEventListener("input", show);
  window.addEventListener("hashchange", toldByAddress);
  picker.addEventListener("submit", (event) => event.preventDefault());
})();
