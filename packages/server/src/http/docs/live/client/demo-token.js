/**
 * A token of the demo platform's own sandbox login: had only on the machine that the service runs on, and only where it started with a demo
 * platform. Null elsewhere.
 * @returns {Promise<string | null>}
 */
export async function demoToken() {
  try {
    const answer = await fetch('/demo-token', { method: 'POST' })
    if (answer.status !== 200) return null
    const { access_token: token } = await answer.json()
    return typeof token === 'string' ? token : null
  } catch {
    return null
  }
}
