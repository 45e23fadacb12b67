import { FlatReader } from '../../src/kit/flat-json.ts'
const READ = ['T', 'S', 't', 'i', 'x', 'p', 's', 'c', 'z', 'bp', 'bs', 'ap', 'as', 'b', 'a', 'r', 'msg']
const texts = Array.from({length: 1000}, (_, n) => JSON.stringify([{T:'q',S:'AAPL',bx:'V',bp:126.1+n/100,bs:1+n%9,ax:'V',ap:127+n/100,as:300,t:'2026-11-03T15:51:45.335689322Z',c:['R'],z:'C'}]))
const r = new FlatReader(READ)
for (let w=0;w<4;w++){ const t=performance.now(); let c=0; while(performance.now()-t<700){ for (const x of texts) r.read(x); c+=1000 } console.log('flat', ((performance.now()-t)*1000/c).toFixed(3),'us') }
