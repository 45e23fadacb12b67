/** Where the portal is shown. */
export interface PortalWindow {
  /** Whose messages count. */
  readonly source: () => Window | null
  /** Leads it to an address of the portal. */
  readonly load: (address: string) => void
  readonly focus: () => void
  readonly isClosed: () => boolean
  readonly close: () => void
}

const [WIDTH, HEIGHT] = [500, 760]

/** Null if the browser does not open one. It is empty until `load`: a browser opens it only right after a click. */
export function popupWindow(host: Window): PortalWindow | null {
  const left = Math.round(host.screenX + (host.outerWidth - WIDTH) / 2)
  const top = Math.round(host.screenY + (host.outerHeight - HEIGHT) / 2)
  const popup = host.open('', '', `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`)
  if (popup === null) return null
  return {
    source: () => popup,
    load: address => popup.location.replace(address),
    focus: () => popup.focus(),
    isClosed: () => popup.closed,
    close: () => popup.close()
  }
}

/** Fills its container. A page that is taken out of the document with its container counts as closed. */
export function frameWindow(container: Element, title: string): PortalWindow {
  const frame = container.ownerDocument.createElement('iframe')
  frame.title = title
  frame.style.cssText = 'border:0;width:100%;height:100%'
  container.append(frame)
  return {
    source: () => frame.contentWindow,
    load: address => {
      frame.src = address
    },
    focus: () => frame.focus(),
    isClosed: () => !frame.isConnected,
    close: () => frame.remove()
  }
}
