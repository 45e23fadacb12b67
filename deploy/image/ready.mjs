// The health check of a container: exits with 0 while the service beside it is ready.
try {
  const { ok } = await fetch(`http://127.0.0.1:${process.env.TRUNKLINE_PORT ?? 8080}/readyz`, { signal: AbortSignal.timeout(3_000) })
  process.exitCode = ok ? 0 : 1
} catch {
  process.exitCode = 1
}
