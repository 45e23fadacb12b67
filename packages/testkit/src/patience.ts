// How long tests wait for expected events. No limit is near what a slow and busy machine needs: only a failure takes so long.

export const PATIENCE_MS = 300_000

/** For one call that must end by itself. */
export const soon = () => AbortSignal.timeout(PATIENCE_MS)

/** For calls without their own deadline: the runner's limit is the only one. */
export const never: AbortSignal = new AbortController().signal
