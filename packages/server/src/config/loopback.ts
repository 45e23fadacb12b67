// Names and addresses that reach this machine only.
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether the name or address reaches this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/**
 * Whether a request's Host header names this machine only. Another site can point its own name here (DNS rebinding), and its scripts could
 * read our answers; the header has the name that the browser used.
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(header ?? '') ?? []
  return isLoopback(name)
}
