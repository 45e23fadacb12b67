/** All that programs under test have of this one's environment: nothing that is set here by chance changes them. They start faster for it. */
export const INHERITED = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  NODE_OPTIONS: `--import=${new URL('resolutions/hook.ts', import.meta.url).href}`
} as const
