import { until } from './until.ts'

/** The metrics token of services under test, as `TRUNKLINE_METRICS_TOKEN`. */
export const METRICS_TOKEN = 'metrics-token-of-tests'

/** The metrics of the service at `url`, rendered after this was called: the page is a snapshot, so an older one is requested again. */
export async function metricsPage(url: string): Promise<string> {
  const first = await read(url)
  let newest = first
  await until(async () => {
    newest = await read(url)
    return newest.etag !== first.etag
  }, 'the metrics are rendered again')
  return newest.text
}

async function read(url: string): Promise<{ readonly etag: string | null; readonly text: string }> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the metrics answered ${answer.status}: ${text.slice(0, 200)}`)
  return { etag: answer.headers.get('etag'), text }
}
