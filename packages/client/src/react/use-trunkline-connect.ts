import { useCallback, useEffect, useRef, useState } from 'react'
import { type Connect, type Connected, type ConnectOutcome, createConnect, type Exited } from '../connect/index.ts'

export interface UseTrunklineConnectOptions {
  /** The `authorization_url` of `connections.create`; null until your back end has answered with it. */
  readonly link: string | null
  /** The origin of the service as browsers reach it; that of the link. */
  readonly portalOrigin?: string
  /** `popup`; a frame needs a registered `redirect_url`, and a container. */
  readonly mode?: 'popup' | 'frame'
  /** A ref of the element that the frame is put into. React must not render into it. */
  readonly container?: { readonly current: Element | null }
  readonly onSuccess?: (connected: Connected) => void
  readonly onExit?: (exited: Exited) => void
}

export interface TrunklineConnect {
  /**
   * Opens the link; call it from a click. While it is open, its window comes to the front instead.
   *
   * @throws ConnectError as a rejection: the link or an option cannot be used.
   */
  readonly open: () => Promise<ConnectOutcome>
  /** There is a link, and it is not open. */
  readonly ready: boolean
}

/**
 * The portal for a component. The callbacks are those of the newest render. When the component goes away, the window is closed and none of
 * them is called.
 */
export function useTrunklineConnect(options: UseTrunklineConnectOptions): TrunklineConnect {
  const { link, portalOrigin, mode, container } = options
  const newest = useRef(options)
  const opened = useRef<Opened | null>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    newest.current = options
  })
  useEffect(
    () => () => {
      opened.current?.controller.abort()
      // A component that is only hidden comes back with its state.
      setOpen(false)
    },
    []
  )

  const open = useCallback(async (): Promise<ConnectOutcome> => {
    if (link === null) return { type: 'exited', reason: 'not_ready' }
    const given = { link, ...(mode !== undefined && { mode }), ...(container?.current && { container: container.current }) }
    if (opened.current !== null) return opened.current.connect.open(given)
    const connect = createConnect({ portalOrigin: portalOrigin ?? originOf(link) })
    const controller = new AbortController()
    opened.current = { connect, controller }
    setOpen(true)
    try {
      const outcome = await connect.open({ ...given, signal: controller.signal })
      if (controller.signal.aborted) return outcome
      if (outcome.type === 'connected') newest.current.onSuccess?.(outcome)
      else newest.current.onExit?.(outcome)
      return outcome
    } finally {
      opened.current = null
      if (!controller.signal.aborted) setOpen(false)
    }
  }, [link, portalOrigin, mode, container])

  return { open, ready: link !== null && !isOpen }
}

interface Opened {
  readonly connect: Connect
  readonly controller: AbortController
}

/** Empty if it has none, which `createConnect` refuses. */
function originOf(link: string): string {
  return URL.canParse(link) ? new URL(link).origin : ''
}
