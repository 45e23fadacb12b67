/**
 * An address that may get credentials: encrypted, or of this machine, or any with `allowHttp`. Otherwise what was found instead, without
 * what may be a password.
 */
export function addressOf(text: string, scheme: 'http' | 'ws', allowHttp: boolean | undefined): URL | string {
  if (!URL.canParse(text)) return text ? 'no address' : 'nothing'
  const url = new URL(text)
  const { protocol, hostname, host } = url
  const isLocal = allowHttp || /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname)
  return protocol === `${scheme}s:` || (protocol === `${scheme}:` && isLocal) ? url : `${protocol}//${host}`
}
