import { ConnectError } from './errors.ts'
import type { Connected, ConnectOutcome, Exited } from './outcome.ts'
import { outcomeOf } from './waiting.ts'
import { frameWindow, type PortalWindow, popupWindow } from './windows.ts'

export interface ConnectOptions {
  /** The origin of the service as browsers reach it: that of the links. */
  readonly portalOrigin: string
  /** How long the page may take to appear in a frame; 20 seconds. */
  readonly readyMs?: number
  /** 35 minutes: five more than a link works. */
  readonly timeoutMs?: number
}

export interface OpenOptions {
  /**
   * The `authorization_url` of `connections.create`, with a `redirect_url` of this page's origin; or what your back end will answer with
   * it: the window is opened before, while the browser still allows it.
   */
  readonly link: string | Promise<string>
  /** `popup`; a frame needs a registered `redirect_url`. */
  readonly mode?: 'popup' | 'frame'
  /** Where the frame is put. */
  readonly container?: Element
  readonly onSuccess?: (connected: Connected) => void
  readonly onExit?: (exited: Exited) => void
  readonly signal?: AbortSignal
}

export interface Connect {
  /**
   * Opens a link, and gives what becomes of it: once, by the promise and by one of the callbacks. Call it from a click.
   *
   * @throws ConnectError as a rejection: an option cannot be used. If `link` is rejected, so is this.
   */
  readonly open: (options: OpenOptions) => Promise<ConnectOutcome>
}

const NONCE_BYTES = 16

/** The portal for a page: one link at a time. */
export function createConnect({ portalOrigin, readyMs = 20_000, timeoutMs = 2_100_000 }: ConnectOptions = Object()): Connect {
  let current: PortalWindow | null = null
  if (!isOrigin(portalOrigin))
    throw new ConnectError(
      `\`portalOrigin\` is an origin such as https://trunkline.example.com, or http and this machine; it was ${portalOrigin}.`
    )
  if (!(readyMs > 0 && timeoutMs > 0))
    throw new ConnectError(`\`readyMs\` and \`timeoutMs\` are milliseconds above 0; they were ${readyMs} and ${timeoutMs}.`)

  async function open(options: OpenOptions): Promise<ConnectOutcome> {
    const { mode = 'popup', container, signal } = options
    if (current !== null) {
      current.focus()
      return { type: 'exited', reason: 'busy' }
    }
    if (mode === 'frame' && container === undefined) throw new ConnectError('A frame needs a `container`.')
    const portal = container !== undefined && mode === 'frame' ? frameWindow(container, 'Connect your account') : popupWindow(window)
    if (portal === null) return { type: 'exited', reason: 'blocked' }
    current = portal
    try {
      const nonce = randomNonce()
      const address = Promise.resolve(options.link).then(link => addressOf(link, mode, nonce))
      const times = { readyMs: mode === 'frame' ? readyMs : null, timeoutMs }
      return await outcomeOf({ host: window, portal, portalOrigin, nonce, address, ...times, signal })
    } finally {
      portal.close()
      current = null
    }
  }

  /** Only a link of the portal is opened: the messages of another page would never count. */
  function addressOf(link: string, mode: 'popup' | 'frame', nonce: string): string {
    const url = URL.canParse(link) ? new URL(link) : null
    if (url?.origin !== portalOrigin || !/^\/connect\/[\w-]+$/.test(url.pathname))
      throw new ConnectError(
        `\`link\` is the \`authorization_url\` of a connection, below ${portalOrigin}/connect/; it was ${whatIs(url)}.`
      )
    if (mode === 'frame') url.pathname += '/frame'
    url.searchParams.set('connect', `${mode}.${nonce}`)
    return url.href
  }

  return {
    async open(options) {
      const outcome = await open(options)
      if (outcome.type === 'connected') options.onSuccess?.(outcome)
      else options.onExit?.(outcome)
      return outcome
    }
  }
}

/** Without the path, which may be a link of another service. */
function whatIs(url: URL | null): string {
  return url === null ? 'no address' : `something else at ${url.origin}`
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, protocol, hostname } = new URL(text)
  return origin === text && (protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
}

function randomNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
