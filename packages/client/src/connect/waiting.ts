import { type ConnectOutcome, type ExitReason, outcomeIn } from './outcome.ts'
import type { PortalWindow } from './windows.ts'

/** A link that is open. */
export interface Waited {
  readonly host: Window
  readonly portal: PortalWindow
  readonly portalOrigin: string
  /** Chosen for this link: the portal repeats it. */
  readonly nonce: string
  /** What the window is led to, once it is known. */
  readonly address: Promise<string>
  /** How long until the page is shown, where that can be known; null: it cannot. */
  readonly readyMs: number | null
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

const LOOK_MS = 500
/** A timer takes no more, and would end at once with it. */
const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * Waits for what becomes of the link, and closes its window. Everything that is not a message of that window's portal is passed over.
 * Rejects with what `address` rejects with.
 */
export function outcomeOf({ host, portal, portalOrigin, nonce, address, readyMs, timeoutMs, signal }: Waited): Promise<ConnectOutcome> {
  return new Promise((resolve, reject) => {
    let wasClosed = false
    let isOver = false
    let unready: ReturnType<typeof setTimeout> | undefined
    const exit = (reason: ExitReason) => end({ type: 'exited', reason })
    const look = setInterval(() => {
      // A second look, because the message of a window that closes right after it may still be on its way.
      if (portal.isClosed() && wasClosed) exit('closed')
      wasClosed = portal.isClosed()
    }, LOOK_MS)
    const after = (ms: number, reason: ExitReason) => setTimeout(exit, Math.min(ms, TIMER_MS_MAX), reason)
    const late = after(timeoutMs, 'timed_out')
    const onAbort = () => exit('aborted')
    host.addEventListener('message', onMessage)
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted) onAbort()
    address.then(
      href => {
        // The caller, or the user, did not wait for it.
        if (isOver) return
        portal.load(href)
        if (readyMs !== null) unready = after(readyMs, 'unreachable')
      },
      error => {
        clear()
        reject(error)
      }
    )

    function onMessage({ origin, source, data }: MessageEvent): void {
      if (origin !== portalOrigin || source === null || source !== portal.source()) return
      const message: { readonly type?: unknown; readonly nonce?: unknown; readonly event?: unknown; readonly result?: unknown } =
        Object(data)
      if (message.type !== 'trunkline.connect' || message.nonce !== nonce) return
      if (message.event === 'ready') clearTimeout(unready)
      const outcome = message.event === 'outcome' ? outcomeIn(message.result) : null
      if (outcome !== null) end(outcome)
    }

    function end(outcome: ConnectOutcome): void {
      clear()
      resolve(outcome)
    }

    function clear(): void {
      isOver = true
      for (const timer of [look, late, unready]) clearTimeout(timer)
      host.removeEventListener('message', onMessage)
      signal?.removeEventListener('abort', onAbort)
      portal.close()
    }
  })
}
