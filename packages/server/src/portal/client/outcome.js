// The last page of a link that `connect.js` opened: it sends the outcome to the page that waits for it, and to pages of that origin only.
// Its redirect follows by itself after seconds, if this window has not been closed by then.
const { to = '', message = '', target = '' } = document.getElementById('script')?.dataset ?? {}
/** @type {Window | null} */
const waiting = window.opener
// A broker's login may have cut this window off from the one that opened it.
if (waiting === null || waiting.closed) location.replace(target)
else waiting.postMessage(JSON.parse(message), to === '' ? location.origin : to)
