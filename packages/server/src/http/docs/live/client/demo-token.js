/**
 * A token for the demo platform's sandbox login. Available only in a browser that opened the start page with the link that the service
 * printed; null elsewhere. All pages share one token. A new one is issued if that was refused.
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
