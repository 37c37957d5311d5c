// Search from disk: browsers start no worker for a page that lies on a disk, so its program runs in a hidden frame instead.
if (window.location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(program) {
      super();
      this.early = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.deliver = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame.onload = () => {
        this.ready = true;
        for (const data of this.early) this.postMessage(data);
      };
      const load = `(...paths) => Promise.all(paths.map((path) => new Promise((done, failed) => {
        const one = document.createElement("script");
        Object.assign(one, { src: path, onload: done, onerror: failed });
        document.head.append(one);
      })))`;
      this.frame.srcdoc = `<script>postMessage = (data) => frameElement.deliver(data); importScripts = ${load};</script>
        <script src="${new URL(program, window.location)}"></script>`;
      document.body.append(this.frame);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      if (this.ready) inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      else this.early.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
