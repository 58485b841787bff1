"use strict";
// These two are for home.js, too.
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

(() => {
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
      window: { color: css("muted"), opacity: 0.13 },
      series: { color: css("muted") },
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

  // A shape with what a chart gives for its blanks (report/charts/shapes.py): a list for one that is alone in a list.
  const filled = (part, given) => {
    if (typeof part === "string") return Object.hasOwn(given, part) ? given[part] : part;
    if (Array.isArray(part)) {
      const inside = part.map((one) => filled(one, given));
      return part.length === 1 && typeof part[0] === "string" ? inside.flat() : inside;
    }
    if (!part || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([name, inside]) => [name, filled(inside, given)]));
  };
  const rowsOf = ({ names, rows }) => rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column]])));
  const specOf = (chart) => {
    const datasets = Object.entries(chart.datasets).map(([name, data]) => [name, rowsOf(data)]);
    return {
      ...filled(shapes[chart.shape], chart.given), height: chart.height, description: chart.description,
      datasets: Object.fromEntries(datasets),
    };
  };
  // A spreadsheet must not take text for a formula.
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const csvOf = ({ names, rows }) => [names, ...rows].map((row) => row.map(field).join(",")).join("\n");
  // Of a chart's data sets the one with the most rows.
  const offerData = (plot) => {
    const datasets = Object.values(charts[plot.dataset.chart].datasets);
    const most = datasets.reduce((one, other) => (other.rows.length > one.rows.length ? other : one));
    if (most.rows.length === 0) return;
    const caption = plot.parentElement.querySelector("figcaption");
    const title = caption.querySelector("h4").textContent;
    const button = make("button", { type: "button", className: "data-of", ariaLabel: `CSV of the chart ${title}` }, "CSV");
    button.addEventListener("click", () => {
      const href = URL.createObjectURL(new Blob([csvOf(most), "\n"], { type: "text/csv" }));
      const link = make("a", { href, download: `${plot.dataset.chart}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    caption.append(button);
  };

  const draw = async (plot) => {
    plot.dataset.state = "drawing";
    try {
      await window.vegaEmbed(plot, specOf(charts[plot.dataset.chart]), options);
      // Groups of marks that have none are no pictures, and have nothing to be called by.
      for (const group of all("[role=graphics-symbol]:empty:not([aria-label])", plot)) group.removeAttribute("role");
      plot.dataset.state = "drawn";
      offerData(plot);
    } catch (error) {
      plot.dataset.state = "failed";
      plot.replaceChildren(make("p", { className: "problem" }, `This chart could not be drawn: ${error.message}`));
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
      if (next.dataset.state) continue; // a <details> has opened meanwhile, and draws it
      await draw(next);
      await new Promise((resolve) => setTimeout(resolve));
    }
    document.documentElement.dataset.charts = "done";
  };

  const keyOf = (cell) => {
    const text = cell.textContent.trim();
    if (cell.dataset.sort !== undefined) return cell.dataset.sort;
    const plain = text === "–" ? "" : text.replace(/(?<=\d),(?=\d{3})/g, ""); // "1,000 µs" after "500 µs", "1 s" after "2 ms"
    return plain.replace(/(\d+(?:\.\d+)?) (ms|s)\b/g, (_, number, unit) => `${Math.round(number * (unit === "s" ? 1e6 : 1e3))} µs`);
  };
  const sortBy = (table, column, direction) => {
    const [body] = table.tBodies;
    const rows = Array.from(body.rows, (row) => [keyOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === ""); // missing figures last, whatever the direction
      const apart = Number(a) - Number(b);
      return direction * (Number.isNaN(apart) ? a.localeCompare(b, "en", { numeric: true }) : apart);
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of all("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      head.ariaSort = "none";
      button.addEventListener("click", () => {
        // Figures start with the largest, text with A.
        const [first, other] = head.classList.contains("num") ? ["descending", "ascending"] : ["ascending", "descending"];
        const now = head.ariaSort === first ? other : first;
        for (const one of heads) one.ariaSort = one === head ? now : "none";
        sortBy(table, column, now === "ascending" ? 1 : -1);
      });
    });
  }

  for (const output of all("[data-count]")) {
    const id = output.dataset.count;
    const [rows, controls] = [all(`#${id} tbody tr`), all(`[data-filter="${id}"]`)];
    const filter = () => {
      const words = controls.filter((c) => !c.dataset.axis).flatMap((c) => c.value.toLowerCase().split(/\s+/));
      const axes = controls.filter((c) => c.dataset.axis && c.value !== "");
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits = words.every((word) => text.includes(word));
        row.hidden = !fits || axes.some((c) => row.getAttribute(`data-${c.dataset.axis}`) !== c.value);
      }
      output.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} cells`;
    };
    for (const control of controls) control.addEventListener("input", filter);
    filter();
  }

  for (const button of all("button.copy")) {
    const pre = button.parentElement.querySelector("pre");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        window.getSelection().selectAllChildren(pre); // no clipboard for this page: the reader can copy
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  for (const element of all(".js-only")) element.hidden = false;
  window.addEventListener("beforeprint", () => { for (const one of all("details")) one.open = true; });
  for (const one of all("details")) one.addEventListener("toggle", () => { if (one.open) drawAll(); });
  drawAll();
})();
