// The browser gets the client's module under this name (see ../index.ts): a page without an import map cannot ask for a package.
export * from '../../../../../../client/dist/types/index.js'
