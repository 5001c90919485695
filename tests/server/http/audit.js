// Lists what is wrong with the page: low contrast, controls without names, headers without scope.
const faults = [];

const channels = (color) => color.match(/[\d.]+/g).map(Number);
const linear = (channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const [r, g, b, a = 1] = channels(getComputedStyle(each).backgroundColor);
    if (a === 1) return [r, g, b];
  }
  return [255, 255, 255];
};
for (const element of document.querySelectorAll("body *")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const isShown = element.checkVisibility() && !element.closest(".hidden, :disabled, .skip");
  if (!hasText || !isShown) continue;
  const style = getComputedStyle(element);
  const text = light(channels(element instanceof SVGElement ? style.fill : style.color));
  const back = light(behind(element));
  const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(2)} of ${element.outerHTML.slice(0, 80)}`);
}

const nameOf = (element) => element.ariaLabel || element.getAttribute("aria-labelledby") || element.textContent.trim();
for (const each of document.querySelectorAll("a, button, [role=region], [role=img], dialog")) {
  if (!nameOf(each)) faults.push(`no name: ${each.outerHTML}`);
}
for (const each of document.querySelectorAll("input, select, textarea")) {
  if (!each.labels.length) faults.push(`no label: ${each.outerHTML}`);
}
for (const each of document.querySelectorAll("th:not([scope=col])")) faults.push(`no scope: ${each.outerHTML}`);
for (const each of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
  const target = each.getAttribute("aria-describedby") || each.getAttribute("aria-labelledby");
  if (!document.getElementById(target)) faults.push(`nothing is called ${target}`);
}
const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
if (new Set(ids).size !== ids.length) faults.push(`an id twice: ${ids}`);
if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
if (!document.documentElement.lang) faults.push("no language");
if (!document.title.includes("Penstock")) faults.push("no title");
return faults;
