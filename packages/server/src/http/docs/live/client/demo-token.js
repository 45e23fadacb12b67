/**
 * A token of the demo platform's own sandbox login: had only in a browser in which the first page was opened by the link that the service
 * printed. Null elsewhere. All pages share one; a new one is made when that was refused.
 * @param {{ readonly isRefused: boolean }} what
 * @returns {Promise<string | null>}
 */
export async function demoToken({ isRefused }) {
  try {
    const answer = await fetch(isRefused ? '/demo-token/new' : '/demo-token', { method: 'POST' })
    if (answer.status !== 200) return null
    const { access_token: token } = await answer.json()
    return typeof token === 'string' ? token : null
  } catch {
    return null
  }
}
