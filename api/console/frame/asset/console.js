// The console without this script does all the same; it adds what a page cannot do by itself.
"use strict";
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const units = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [2592000, "day", 86400]];
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // Times: relative to now for a month, then in the reader's zone; UTC stays on hover.
  const times = (root) => {
    for (const element of all("time[datetime]", root)) {
      const at = new Date(element.getAttribute("datetime"));
      if (isNaN(at)) continue;
      const seconds = (at - Date.now()) / 1000;
      const unit = units.find((u) => Math.abs(seconds) < u[0]);
      const text = unit ? relative.format(Math.round(seconds / unit[2]), unit[1]) : local.format(at);
      if (element.textContent !== text) element.textContent = text;
    }
  };
  const buttons = (root) => {
    for (const button of all("[data-copy]", root)) {
      button.hidden = false;
      button.onclick = async () => {
        try {
          await navigator.clipboard.writeText(button.dataset.copy);
          button.textContent = "Copied";
        } catch { button.textContent = "Not copied"; }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      };
    }
    for (const form of all("form[data-confirm]", root)) {
      form.onsubmit = (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); };
    }
    for (const box of all("[data-all]", root)) {
      box.hidden = false;
      box.onchange = () => { for (const one of all('input[type=checkbox][name="' + box.dataset.all + '"]')) one.checked = box.checked; };
    }
    for (const picture of all("img[data-zoom]", root)) {
      picture.onclick = () => {
        const dialog = document.createElement("dialog"), large = document.createElement("img");
        large.src = picture.src; large.alt = picture.alt;
        dialog.append(large); document.body.append(dialog);
        dialog.onclick = () => dialog.close();
        dialog.onclose = () => dialog.remove();
        dialog.showModal();
      };
    }
  };
  // Live pages read themselves anew while somebody looks, and change what is marked.
  const seconds = Number(document.body.dataset.live);
  if (seconds > 0) {
    const again = async () => {
      if (!document.hidden && !document.querySelector("dialog[open]")) {
        try {
          const answer = await fetch(location.href, { headers: { "X-Console-Script": "1" }, redirect: "manual" });
          if (answer.type === "opaqueredirect") {
            const said = document.createElement("p");
            said.className = "notice bad"; said.setAttribute("role", "alert");
            said.textContent = "You are signed out: this page shows no news any more.";
            document.querySelector("main").prepend(said);
            return;
          }
          if (answer.ok) {
            const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
            for (const part of all("[data-part]")) {
              const other = fresh.getElementById(part.id);
              if (part.contains(document.activeElement) || part.querySelector("details[open]")) continue;
              if (other && other.innerHTML !== part.dataset.raw) {
                part.dataset.raw = other.innerHTML;
                part.replaceChildren(...other.childNodes);
                times(part); buttons(part);
              }
            }
            if (!fresh.body.dataset.live) return;
          }
        } catch { /* the next look may succeed */ }
      }
      setTimeout(again, seconds * 1000);
    };
    setTimeout(again, seconds * 1000);
  }
  // Uploads say how far they are.
  for (const form of all("form[data-upload]")) {
    const drop = form.querySelector("input[type=file]");
    form.ondragover = (event) => event.preventDefault();
    form.ondrop = (event) => { event.preventDefault(); drop.files = event.dataTransfer.files; };
    form.onsubmit = (event) => {
      event.preventDefault();
      const request = new XMLHttpRequest(), begun = Date.now();
      const bar = document.createElement("progress"), text = document.createElement("p"), stop = document.createElement("button");
      stop.type = "button"; stop.textContent = "Cancel"; stop.className = "quiet"; text.setAttribute("role", "status");
      form.append(bar, text, stop);
      stop.onclick = () => request.abort();
      const end = (message) => { bar.remove(); stop.remove(); text.textContent = message; };
      request.upload.onprogress = (e) => {
        if (!e.lengthComputable) return;
        bar.max = e.total; bar.value = e.loaded;
        const rate = e.loaded / ((Date.now() - begun) / 1000 || 1);
        const left = Math.round((e.total - e.loaded) / rate);
        text.textContent = Math.round(e.loaded / 1048576) + " of " + Math.round(e.total / 1048576) + " MiB, " + (rate / 1048576).toFixed(1) + " MiB/s, " + left + " s left";
      };
      request.onload = () => {
        if (request.status < 400) { location.href = request.responseURL; return; }
        const page = new DOMParser().parseFromString(request.responseText, "text/html");
        const said = page.querySelector("main p");
        end(said ? said.textContent : "The server refused the file.");
      };
      request.onerror = () => end("The connection was lost. Nothing was stored.");
      request.onabort = () => end("Cancelled.");
      request.open("POST", form.action);
      request.setRequestHeader("X-Console-Script", "1");
      request.send(new FormData(form));
    };
  }
  // Keys.
  let row = -1;
  const rows = () => all("tbody tr").filter((r) => r.querySelector("a"));
  const move = (by) => {
    const list = rows();
    if (!list.length) return;
    list.forEach((r) => r.classList.remove("current"));
    row = Math.max(0, Math.min(list.length - 1, row + by));
    list[row].classList.add("current");
    list[row].scrollIntoView({ block: "nearest" });
  };
  const help = document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input,select,textarea") || document.querySelector("dialog[open]")) return;
    const current = rows()[row];
    switch (event.key) {
      case "/": {
        const field = document.querySelector('[data-key="/"]');
        if (field) { event.preventDefault(); field.focus(); field.select(); }
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "x": { const box = current && current.querySelector("input[type=checkbox]"); if (box) box.click(); break; }
      case "Enter": { const link = current && event.target === document.body && current.querySelector("a"); if (link) link.click(); break; }
      case "e": { const button = document.querySelector('[data-key="e"]'); if (button) button.click(); break; }
      case "?": if (help) help.showModal(); break;
    }
  });
  for (const link of all("[data-help]")) link.onclick = (event) => { event.preventDefault(); help.showModal(); };
  // The theme of one's choice.
  const chosen = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const dress = () => { const theme = chosen(); if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme; };
  const foot = document.querySelector("footer");
  if (foot) {
    const button = document.createElement("button");
    button.type = "button"; button.className = "quiet"; button.textContent = "Theme: " + (chosen() || "system");
    button.onclick = () => {
      const next = { "": "dark", dark: "light", light: "" }[chosen() || ""];
      try { if (next) localStorage.setItem("theme", next); else localStorage.removeItem("theme"); } catch { return; }
      button.textContent = "Theme: " + (next || "system"); dress();
    };
    foot.append(" ", button);
  }
  dress(); times(); buttons();
  setInterval(times, 30000);
})();
