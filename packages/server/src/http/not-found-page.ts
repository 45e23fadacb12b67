import type { FastifyRequest } from 'fastify'

/** A self-contained page without styles and scripts. It contains nothing from the request. */
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
<p>Check the spelling, or go to the <a href="/">start page</a>.</p>
</main>
</body>
</html>
`

/** Whether a browser will show the response to a user. Programs accept JSON or anything. */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(headers.accept ?? '')
}
