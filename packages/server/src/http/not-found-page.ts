import type { FastifyRequest } from 'fastify'

/** Needs nothing but itself: no style and no script, and nothing of what was asked for is in it. */
export const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not found · Trunkline</title>
</head>
<body>
<main>
<h1>There is nothing at this address</h1>
<p>Check its spelling, or begin at the <a href="/">first page</a>.</p>
</main>
</body>
</html>
`

/** Whether a browser shows the response to a user: programs accept JSON, or anything. */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(headers.accept ?? '')
}
