// What was measured beside what theory says.

function drawTheory() {
  byId('theory').hidden = data.theory.length === 0;
  follows('theory');
  const amount = (value, unit) => value === null ? kAbsent : unit === 'bytes' ? bytes(Math.round(value)) : `${count(Math.round(value))} ${unit}`;
  fill('theory-list', table([['quantity'], ['of', 'quiet'], ['measured', 'number'], ['theory', 'number'], ['ratio', 'number'], ['theory says', 'quiet']],
    data.theory.map(([quantity, scope, unit, measured, theory, formula]) => [quantity, scope, amount(measured, unit), amount(theory, unit),
      measured === null || !theory ? kAbsent : fixed(measured / theory, 3), formula])));
}
sections.push(drawTheory);
