// Search without a server: a browser starts no worker from file://, so the search runs in a hidden frame of the page.
// The theme's search knows a class of this name and looks for its files beside the script.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      const load = (url) =>
        new Promise((done, failed) => {
          const script = frame.contentDocument.createElement("script")
          script.src = url
          script.onload = done
          script.onerror = () => failed(new Error(`${url} cannot be read`))
          frame.contentDocument.head.append(script)
        })
      this.inside.importScripts = async (...urls) => {
        for (const url of urls) await load(url)
      }
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = load(address)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
}
