% octave.m - what languages/ulplab.c gives in Octave; tests/programs/languages.sh makes readme_block.m, numbers.txt and stochastic.txt.
1;

function check(text, condition)
  if condition, disp(["ok - Octave: " text]); else, disp(["not ok - Octave: " text]); end
end

% what raises an error of this identifier, whose message has these words
function refuses(id, words, f)
  try
    f();
    disp(["not ok - Octave: no error for: " words]);
  catch e
    check(["refuses with: " words], strcmp(e.identifier, ["ulplab:" id]) && ! isempty(strfind(e.message, words)));
    if isempty(strfind(e.message, words)), disp(["# " e.message]); end
  end
end

function same = is_same(x, y)
  same = strcmp(class(x), class(y)) && isequal(size(x), size(y)) && isequal(x, y);
end

source("readme_block.m");
check("the example of the README rounds", is_same(y, single([0.009765625 448 448])));
check("stochastically to one of two neighbours", all(z == 1228 * 2^-12 | z == 1229 * 2^-12) && isa(z, "double"));
check("the sum on an A100", is_same(s, single(0)));
check("the sum on an H100", is_same(t, single(2^-24)));
check("the product", isequal(size(C), [3 2]) && isa(C, "single"));

h = ulplab('round', single(100 + ulplab('round', single(0.01), 'fp16')), 'fp16');
check("100 + 0.01 stagnates in binary16", is_same(h, single(100)));
check("upward it moves by a spacing", ulplab('round', 100.01, 'fp16', 'ru') == 100.0625);
check("e4m3 saturates", is_same(ulplab('round', [1e6 -1e6 Inf], 'e4m3', 'rne', 'overflow', 'sat'), [448 -448 448]));
check("or gives NaN", all(isnan(ulplab('round', [1e6 -1e6], 'e4m3', 'rne', 'overflow', 'nan'))));
x = load("numbers.txt");
check("stochastic rounding as `ulp round`", ...
      is_same(ulplab('round', x, 'e4m3', 'sr', 'bits', 8, 'seed', 7), load("stochastic.txt")));
rest = ulplab('round', x(11:end), 'e4m3', 'sr', 'bits', 8, 'seed', uint64(7), 'first', 10);
check("and in parts", is_same(rest, load("stochastic.txt")(11:end)));
check("the shape stays", isequal(size(ulplab('round', ones(2, 3, 4), 'bf16')), [2 3 4]));
check("an empty array", is_same(ulplab('round', zeros(0, 3), 'e4m3'), zeros(0, 3)) && isempty(ulplab('round', [], 'e4m3')));
check("the argument is not changed", x(1) == load("numbers.txt")(1));

a = ulplab('round', randn(7, 5), 'fp16');
b = ulplab('round', randn(5, 3), 'fp16');
for name = {'h100-fp16', 'serial:fp16:rne', 'fp32', 'serial:fp64:rne'}
  product = ulplab('matmul', a, b, name{1});
  dots = cast(zeros(7, 3), class(product));
  for i = 1:7, for j = 1:3, dots(i, j) = ulplab('dot', a(i, :), b(:, j), name{1}); end, end
  check(["a product of 7 x 5 and 5 x 3 has the bits of its dots, " name{1}], is_same(product, dots));
end
check("operands of two formats keep their order", ...
      is_same(ulplab('matmul', [1.125 1; 0 1], [57344; 1024], 'h100-e4m3.e5m2'), single([65536; 1024])));
check("start values", is_same(ulplab('matmul', [1 2 3; 4 5 6], [1 0; 0 1; 1 1], 'fp32', 'c', [10 20; 30 40]), single([14 25; 40 51])));
check("no products", is_same(ulplab('matmul', zeros(2, 0), zeros(0, 3), 'fp32'), single(zeros(2, 3))));
check("no rows", isequal(size(ulplab('matmul', zeros(0, 3), zeros(3, 2), 'fp32')), [0 2]));
check("an empty dot is its start", ulplab('dot', [], [], 'fp32', 'c', 2) == 2);
check("NaN and infinity", isnan(ulplab('dot', [NaN 1], [1 1], 'fp32')) && ulplab('dot', [Inf 1], [1 1], 'fp32') == Inf);
check("int8 gives doubles", is_same(ulplab('dot', single([100 3]), [100 5], 'int8'), 10015));
check("cast rounds the operands", is_same(ulplab('dot', [0.3 1], [1 1], 'h100-e4m3', 'cast', 'rne'), single(1.3125)));
r = @(k) ulplab('matmul', a, b, 'serial:bf16:sr/8', 'cast', 'rne', 'seed', k);
check("a seed repeats a product", is_same(r(1), r(1)) && ! is_same(r(1), r(2)));

refuses('argument', "it must be 'round', 'dot' or 'matmul'", @() ulplab());
refuses('argument', "it must be 'round', 'dot' or 'matmul'", @() ulplab('sum', 1));
refuses('argument', "takes an array and a format", @() ulplab('round', 1));
refuses('argument', "e4m3x", @() ulplab('round', 1, 'e4m3x'));
refuses('argument', "there are: rne", @() ulplab('round', 1, 'e4m3', 'foo'));
refuses('argument', "bits is 40; random bits are 1 to 32", @() ulplab('round', 1, 'e4m3', 'sr', 'bits', 40));
refuses('argument', "seed is -1; it must be a whole number", @() ulplab('round', 1, 'e4m3', 'sr', 'seed', -1));
refuses('argument', "seed is 0.5; it must be a whole number", @() ulplab('round', 1, 'e4m3', 'sr', 'seed', 0.5));
refuses('argument', "only fixed point wraps around", @() ulplab('round', 1, 'e4m3', 'rne', 'overflow', 'wrap'));
refuses('argument', "give an array of binary64", @() ulplab('round', single(1), 'fp64'));
refuses('argument', "no option 'bogus'; there are: c cast", @() ulplab('dot', 1, 1, 'fp32', 'bogus', 1));
refuses('argument', "the option 'c' has no value", @() ulplab('dot', 1, 1, 'fp32', 'c'));
refuses('argument', "a(1) is 0.1", @() ulplab('dot', 0.1, 1, 'fp32'));
refuses('argument', "b(2) is 0.25390625, no value of e4m3", @() ulplab('dot', [1 1], [1 0.25390625], 'h100-e4m3'));
refuses('argument', "c(1) is 0.100000001490116", @() ulplab('dot', 1, 1, 'serial:fp16:rne', 'c', single(0.1)));
refuses('argument', "no datapath 'h100x'", @() ulplab('dot', 1, 1, 'h100x'));
refuses('argument', "a has 2 elements and b 3", @() ulplab('dot', [1 1], [1 1 1], 'fp32'));
refuses('argument', "takes two vectors", @() ulplab('dot', ones(2), ones(2), 'fp32'));
refuses('argument', "a is 2 x 3 and b is 2 x 3", @() ulplab('matmul', ones(2, 3), ones(2, 3), 'fp32'));
refuses('argument', "c is 1 x 1; the result is 2 x 2", @() ulplab('matmul', ones(2), ones(2), 'fp32', 'c', 1));
refuses('argument', "two matrices", @() ulplab('matmul', ones(2, 2, 2), 1, 'fp32'));
refuses('type', "of class int8", @() ulplab('round', int8(1), 'e4m3'));
refuses('type', "complex", @() ulplab('round', 1i, 'e4m3'));
refuses('type', "sparse", @() ulplab('dot', sparse([1 1]), [1 1], 'fp32'));
refuses('type', "of class logical", @() ulplab('dot', true, 1, 'fp32'));
refuses('type', "the mode is of class double", @() ulplab('round', 1, 'e4m3', 3));
refuses('type', "seed must be one whole number", @() ulplab('round', 1, 'e4m3', 'sr', 'seed', [1 2]));
disp("# all is done");
