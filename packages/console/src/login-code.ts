// The code of `cli operator link`, which the link carries in its fragment: a fragment is not sent to any server.

/** The code in a fragment such as `#code=…`, or null. */
export function codeIn(fragment: string): string | null {
  const code = new URLSearchParams(fragment.replace(/^#/, '')).get('code')?.trim()
  return code === undefined || code === '' ? null : code
}

/** What was pasted: the code itself, or the link that contains it. */
export function codeFrom(pasted: string): string {
  const text = pasted.trim()
  const fragment = text.indexOf('#')
  return (fragment === -1 ? null : codeIn(text.slice(fragment))) ?? text
}
