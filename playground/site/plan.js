// SPDX-License-Identifier: Apache-2.0
// plan.js  The page that explains and plans.
'use strict';

(() => {
  const defaults = {m: '4096', n: '4096', k: '4096', dtype: 'bf16', device: 'h200',
                    explain: 'tile=192x192 mma=m64n96k16 warpgroups=2 copy=stmatrix.x4 smem=SW128 ' +
                             'dtype=f16',
                    regs: '168', threads: '384', smem: '200000', cluster: '2'};
  const types = 'bf16 f16 tf32 e4m3 e5m2 s8 u8 mxfp8 mxfp4 nvfp4'.split(' ');
  const devices = 'h200 h100 a100 b200'.split(' ');
  const explanations = [
    ['stmatrix into 128-byte swizzled blocks', defaults.explain],
    ['the nearest that is legal', 'tile=192x192 mma=m64n32k16 warpgroups=2 copy=stmatrix.x4 ' +
     'smem=SW128 dtype=f16'],
    ['A of an sm80 kernel', 'arch=sm80 operand=A tile=128x64 major=k copy=cp.async.128 dtype=f16'],
    ['a kernel of the library', 'sm90_bf16_bf16_tn_128x256x64_2x1_s4'],
    ['an error code', 'TW0104'],
    ['a hazard', 'E0024'],
  ];
  // The words of a combination that have a field of their own: of a text, or of these choices.
  const parts = {tile: '', mma: '', warpgroups: '',
                 copy: 'stmatrix.x4 stmatrix.x2 stmatrix.x1 st.16 st.32 st.64 st.128',
                 smem: 'SW128 SW64 SW32 NONE', dtype: 'f16 bf16 f32 tf32 e4m3 e5m2'};
  const engine = new Engine('plan');
  let state = readFragment(defaults);
  const time = us => us < 1000 ? `${us.toFixed(1)} us` : `${(us / 1000).toFixed(2)} ms`;

  const planWords = s => ['plan', s.m.trim(), s.n.trim(), s.k.trim(), '--dtype', s.dtype,
                          '--device', s.device, '--all-kernels'];

  const showPlan = newestOnly(async s => {
    const [answer, text] = [await engine.text([...planWords(s), '--json', '--top', '8']),
                            await engine.text(planWords(s))];
    const failed = answer.status !== 0;
    byId('plan-error').textContent = failed ? refusalText(answer) : '';
    if (failed) {
      byId('plan-chosen').textContent = 'No plan.';
      for (const id of ['terms', 'plans', 'roofline']) byId(id).replaceChildren();
      byId('plan-text').textContent = '';
      document.body.dataset.drawn = 'refused';
      return;
    }
    const record = recordOf(answer), chosen = record.chosen;
    byId('plan-text').textContent = text.out;
    byId('plan-chosen').textContent =
      `${chosen.kernel}: ${time(chosen.predicted.us)}, ` +
      `${chosen.predicted.tflops.toFixed(0)} TFLOP/s on ${record.device_name}. Chosen because: ${record.because}. ` +
      `Limited by ${record.limit}.`;
    drawBars(byId('terms'), Object.entries(chosen.terms_us)
      .filter(([name, us]) => typeof us === 'number' && name !== 'waves')  // a number, no time
      .map(([name, us]) => ({name: name.replaceAll('_', ' '), value: us, text: time(us)})));
    byId('plans').replaceChildren(
      element('thead', {}, element('tr', {}, ...['Kernel', 'Predicted', 'TFLOP/s', 'Measured']
        .map((t, i) => element('th', {scope: 'col', class: i ? 'number' : ''}, t)))),
      element('tbody', {}, ...record.plans.map(p => element('tr', {},
        element('td', {}, p.kernel), element('td', {class: 'number'}, time(p.predicted.us)),
        element('td', {class: 'number'}, p.predicted.tflops.toFixed(0)),
        element('td', {class: 'number'}, p.measured ? time(p.measured.us) : '-')))));
    const roofline = await engine.text(['roofline', s.m.trim(), s.n.trim(), s.k.trim(), '--dtype',
                                        s.dtype, '--device', s.device, '--json']);
    if (roofline.status === 0) drawRoofline(byId('roofline'), recordOf(roofline));
    else byId('roofline').replaceChildren(element('pre', {}, refusalText(roofline)));
    document.body.dataset.drawn = fragmentOf(s, defaults);
  });

  const showExplained = newestOnly(async s => {
    const words = s.explain.trim().split(/\s+/).filter(w => w);
    const answer = await engine.text(['explain', '--', ...words]);
    byId('explained').className = answer.status === 0 ? '' : 'refused';
    byId('explained').textContent = answer.status === 0 ? answer.out : refusalText(answer);
  });

  const showOccupied = newestOnly(async s => {
    const words = ['occupancy', '--device', s.device];
    for (const [option, key] of [['--regs', 'regs'], ['--threads', 'threads'], ['--smem', 'smem'],
                                 ['--cluster', 'cluster']])
      if (s[key].trim()) words.push(option, s[key].trim());
    const answer = await engine.text(words);
    byId('occupied').className = answer.status === 0 ? '' : 'refused';
    byId('occupied').textContent = answer.status === 0 ? answer.out : refusalText(answer);
  });

  function change(values, ...shown) {
    state = {...state, ...values};
    writeFragment(state, defaults);
    for (const show of shown) show({...state});
  }

  function fill() {
    if (!types.includes(state.dtype)) state.dtype = defaults.dtype;
    if (!devices.includes(state.device)) state.device = defaults.device;
    for (const key of Object.keys(defaults)) byId(key).value = state[key];
    fillParts();
  }

  /** The words of the question in their fields; a field whose word is missing is empty. */
  function fillParts() {
    const words = new Map(state.explain.split(/\s+/).map(w => w.split('=')));
    for (const key of Object.keys(parts)) byId(`part-${key}`).value = words.get(key) ?? '';
  }

  /** A question of the fields, with the words that have none. */
  function askParts() {
    const others = state.explain.split(/\s+/).filter(w => /^(turns|major)=/.test(w));
    const words = Object.keys(parts).map(key => [key, byId(`part-${key}`).value.trim()])
      .filter(([, value]) => value).map(([key, value]) => `${key}=${value}`);
    byId('explain').value = [...words, ...others].join(' ');
    change({explain: byId('explain').value}, showExplained);
  }

  byId('dtype').append(...types.map(t => element('option', {}, t)));
  byId('device').append(...devices.map(d => element('option', {value: d}, d.toUpperCase())));
  for (const key of ['m', 'n', 'k', 'dtype'])
    byId(key).addEventListener('input', e => change({[key]: e.target.value}, showPlan));
  byId('device').addEventListener('input', e =>
    change({device: e.target.value}, showPlan, showOccupied));
  byId('explain').addEventListener('input', e => {
    change({explain: e.target.value}, showExplained);
    fillParts();
  });
  for (const [key, choices] of Object.entries(parts)) {
    if (choices) byId(`part-${key}`).append(...['', ...choices.split(' ')].map(c =>
      element('option', {value: c}, c || 'the best')));
    byId(`part-${key}`).addEventListener('input', askParts);
  }
  for (const key of ['regs', 'threads', 'smem', 'cluster'])
    byId(key).addEventListener('input', e => change({[key]: e.target.value}, showOccupied));
  for (const form of document.forms) form.addEventListener('submit', e => e.preventDefault());
  const menu = byId('explain-menu');
  menu.append(...explanations.map(([title, words]) => element('option', {value: words}, title)));
  menu.addEventListener('input', () => {
    if (!menu.value) return;
    byId('explain').value = menu.value;
    change({explain: menu.value}, showExplained);
    fillParts();
  });
  byId('copy-plan').addEventListener('click', async () => {
    const line = ['tilewright', ...planWords(state)].map(shellWord).join(' ');
    byId('plan-copied').textContent = await copyText(line, 'command.txt');
  });
  byId('copy-plan-link').addEventListener('click', async () => {
    byId('plan-copied').textContent = await copyText(location.href, 'link.txt');
  });

  const config = byId('config');
  if (config) {
    byId('tokens').value = '1,64,4096';
    byId('formats').value = 'bf16,e4m3:1x128';
    byId('tp').value = '1';
    byId('plan-model').addEventListener('click', async () => {
      const list = (option, id) => byId(id).value.trim() ? [option, byId(id).value.trim()] : [];
      const answer = await engine.text(['plan', '--model', 'config.json', '--device', state.device,
        ...list('--tokens', 'tokens'), ...list('--formats', 'formats'), ...list('--tp', 'tp')],
        {'config.json': config.value.slice(0, 1 << 20)});
      byId('model-text').className = answer.status === 0 ? '' : 'refused';
      byId('model-text').textContent = answer.status === 0 ? answer.out : refusalText(answer);
    });
  }

  function showAll() {
    fill();
    showPlan({...state});
    showExplained({...state});
    showOccupied({...state});
  }
  addEventListener('hashchange', () => {
    state = readFragment(defaults);
    showAll();
  });
  showAll();
})();
