"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Colours are references to CSS variables: charts follow light, dark and print without being drawn again.
  const css = (name) => `var(--${name})`;
  const palette = (prefix) => [0, 1, 2, 3, 4, 5, 6, 7].map((slot) => css(prefix + slot));
  const axis = {
    labelColor: css("muted"), titleColor: css("muted"), gridColor: css("line"), domainColor: css("line-strong"),
    tickColor: css("line-strong"), labelExpr: "datum.value === 0 ? '0' : datum.label", labelFontSize: 11, titleFontSize: 11, titleFontWeight: 500, titlePadding: 8,
    tickSize: 4, labelPadding: 4,
  };
  const config = {
    font: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif",
    axis,
    axisX: { labelOverlap: "greedy", labelFlush: false, titleAnchor: "end" }, // never cut off where the plot is narrow
    axisBand: { grid: false, domain: false, ticks: false },
    view: { stroke: null },
    text: { fontSize: 11.5 },
    range: { category: palette("e"), ordinal: palette("o") }, // of executors, and of what a stack is made of
    style: {
      interval: { color: css("text"), strokeWidth: 1.5 },
      expected: { color: css("text"), opacity: 1 },
      fork: { color: css("text"), stroke: css("surface"), strokeWidth: 1, opacity: 1 },
      value: { color: css("text") },
      window: { color: css("band"), opacity: 0.13 },
      series: { color: css("band") },
    },
  };
  // The area around a point that shows the point's tooltip has the point as its datum: Vega-Lite reads figures through it,
  // and text beside it.
  const textOfNearest = (part) => {
    if (Array.isArray(part)) part.forEach(textOfNearest);
    else if (part && typeof part === "object") {
      const tooltip = part.transform?.some?.((one) => one.type === "voronoi") && part.encode?.update?.tooltip;
      if (tooltip) tooltip.signal = tooltip.signal.replace(/(?<!\.)\bdatum\[/g, "datum.datum[");
      else Object.values(part).forEach(textOfNearest);
    }
    return part;
  };
  // `ast`: expressions are interpreted, so that the page's policy need not allow evaluation of text as code.
  const options = {
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false, config,
    patch: textOfNearest, tooltip: { disableDefaultStyle: true },
  };

  const { shapes, charts } = JSON.parse(document.getElementById("page-charts")?.textContent ?? "{}");

  // A shape with what a chart gives for its blanks (report/charts/shapes.py).
  const filled = (part, chart) => {
    if (Array.isArray(part)) {
      const given = part.length === 1 && typeof part[0] === "string" && Object.hasOwn(chart.lists, part[0]);
      return given ? chart.lists[part[0]] : part.map((inside) => filled(inside, chart));
    }
    if (part && typeof part === "object") {
      return Object.fromEntries(Object.entries(part).map(([name, inside]) => [name, filled(inside, chart)]));
    }
    return typeof part === "string" && Object.hasOwn(chart.words, part) ? chart.words[part] : part;
  };
  const rowsOf = (data) => {
    if (Array.isArray(data)) return data;
    return data.rows.map((row) => Object.fromEntries(data.names.map((name, column) => [name, row[column]])));
  };
  const specOf = (id) => {
    const chart = charts[id];
    const datasets = Object.entries(chart.datasets).map(([name, data]) => [name, rowsOf(data)]);
    return {
      ...filled(shapes[chart.shape], chart), height: chart.height, description: chart.description,
      datasets: Object.fromEntries(datasets),
    };
  };
  // A spreadsheet must not take text for a formula.
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const csvOf = (rows) => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(field).join(",")).join("\n");
  };
  // Of a chart's data sets the one with the most rows.
  const offerData = (plot, datasets) => {
    const rows = Object.values(datasets).reduce((most, one) => (one.length > most.length ? one : most), []);
    const caption = plot.parentElement.querySelector("figcaption");
    if (rows.length === 0 || !caption) return;
    const title = caption.querySelector("h4")?.textContent ?? plot.dataset.chart;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "data-of";
    button.textContent = "CSV";
    button.setAttribute("aria-label", `CSV of the chart ${title}`);
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csvOf(rows), "\n"], { type: "text/csv" }));
      link.download = `${plot.dataset.chart}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    caption.append(button);
  };

  const draw = async (plot) => {
    plot.dataset.state = "drawing";
    try {
      const spec = specOf(plot.dataset.chart);
      await window.vegaEmbed(plot, spec, options);
      // Groups of marks that have none are no pictures, and have nothing to be called by.
      for (const group of all("[role=graphics-symbol]:empty:not([aria-label])", plot)) group.removeAttribute("role");
      plot.dataset.state = "drawn";
      offerData(plot, spec.datasets);
    } catch (error) {
      plot.dataset.state = "failed";
      const text = document.createElement("p");
      text.className = "problem";
      text.textContent = `This chart could not be drawn: ${error.message}`;
      plot.replaceChildren(text);
      console.error(plot.dataset.chart, error);
    }
  };

  // What is on the screen is drawn first; the rest follows in order, one at a time, so that the page stays usable.
  const drawAll = async () => {
    document.documentElement.dataset.charts = "drawing";
    // A chart in a closed <details> has no width yet: it is drawn when that opens.
    const waiting = new Set(all(".plot[data-chart]:not([data-state])").filter((plot) => plot.clientWidth > 0));
    const inView = (plot) => {
      const box = plot.getBoundingClientRect();
      return box.bottom > -200 && box.top < window.innerHeight + 200;
    };
    while (waiting.size > 0) {
      const next = [...waiting].find(inView) ?? waiting.values().next().value;
      waiting.delete(next);
      await draw(next);
      await new Promise((resolve) => setTimeout(resolve));
    }
    document.documentElement.dataset.charts = "done";
  };

  const compare = (a, b) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1; // missing figures last, whatever the direction
    return null;
  };
  const keyOf = (cell) => cell.dataset.sort ?? cell.textContent.trim();
  const sortBy = (table, column, direction) => {
    for (const body of table.tBodies) {
      const rows = Array.from(body.rows, (row) => [keyOf(row.cells[column]), row]);
      rows.sort(([a], [b]) => {
        const missing = compare(a, b);
        if (missing !== null) return missing;
        const apart = Number(a) - Number(b);
        return direction * (Number.isNaN(apart) ? a.localeCompare(b, "en", { numeric: true }) : apart);
      });
      body.append(...rows.map(([, row]) => row));
    }
  };

  for (const table of all("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        // Figures start with the largest, text with A.
        const first = head.classList.contains("num") ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const now = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((one) => one.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", now);
        sortBy(table, column, now === "ascending" ? 1 : -1);
      });
    });
  }

  const filter = (id) => {
    const controls = all(`[data-filter="${id}"]`);
    const words = controls.filter((c) => !c.dataset.axis).flatMap((c) => c.value.toLowerCase().split(/\s+/)).filter(Boolean);
    const axes = controls.filter((c) => c.dataset.axis && c.value !== "");
    const rows = all(`#${id} tbody tr`);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) &&
        axes.every((c) => row.getAttribute(`data-${c.dataset.axis}`) === c.value);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const output of all(`[data-count="${id}"]`)) output.textContent = `${shown} of ${rows.length} cells`;
  };
  for (const control of all("[data-filter]")) {
    control.addEventListener("input", () => filter(control.dataset.filter));
  }
  new Set(all("[data-filter]").map((c) => c.dataset.filter)).forEach(filter);

  const copyText = async (pre) => {
    const text = pre.textContent;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const range = document.createRange(); // no clipboard for this page: select, so that the reader can copy
      range.selectNodeContents(pre);
      const selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return false;
    }
  };
  for (const button of all("button.copy")) {
    button.addEventListener("click", async () => {
      const done = await copyText(button.parentElement.querySelector("pre"));
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  for (const element of all(".js-only")) element.hidden = false;
  window.addEventListener("beforeprint", () => { for (const one of all("details")) one.open = true; });
  for (const one of all("details")) one.addEventListener("toggle", () => { if (one.open) drawAll(); });
  drawAll();
})();
