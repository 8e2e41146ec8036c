# julia.jl - what languages/Ulplab.jl gives in Julia; tests/programs/languages.sh makes readme.jl, numbers.txt and stochastic.txt.
check(text, condition) = println(condition ? "ok" : "not ok", " - Julia: ", text)

# f() throws an error of type E, whose message has these words
function refuses(f, E, words)
    try
        f()
        println("not ok - Julia: no error for: ", words)
    catch e
        said = sprint(showerror, e)
        check("refuses with: $words", e isa E && occursin(words, said))
        occursin(words, said) || println("# ", said)
    end
end

numbers(file) = parse.(Float64, readlines(file))

include(joinpath(pwd(), "readme.jl"))
check("the example of the README rounds", y == Float32[0.009765625, 448, 448] && eltype(y) == Float32)
check("stochastically to one of two neighbours", all(v -> v in (1228 * 2.0^-12, 1229 * 2.0^-12), z) && eltype(z) == Float64)
check("the sum on an A100", s === 0.0f0)
check("the sum on an H100", t === 2.0f0^-24)
check("the product", size(C) == (3, 2) && eltype(C) == Float32)

check("100 + 0.01 stagnates in binary16", Ulplab.round(100 + Ulplab.round(0.01f0, "fp16"), "fp16") === 100.0f0)
check("upward it moves by a spacing", Ulplab.round(100.01, "fp16", "ru") === 100.0625)
check("e4m3 saturates", Ulplab.round([1e6, -1e6, Inf], "e4m3", overflow="sat") == [448, -448, 448])
check("or gives NaN", all(isnan, Ulplab.round([1e6, -1e6], "e4m3", overflow="nan")))
x = numbers("numbers.txt")
want = numbers("stochastic.txt")
check("stochastic rounding as `ulp round`", Ulplab.round(x, "e4m3", "sr", bits=8, seed=7) == want)
check("and in parts", Ulplab.round(x[11:end], "e4m3", "sr", bits=8, seed=UInt64(7), first=10) == want[11:end])
check("and of a view", Ulplab.round(view(x, 11:20), "e4m3", "sr", bits=8, seed=7, first=10) == want[11:20])
check("the shape stays", size(Ulplab.round(ones(2, 3, 4), "bf16")) == (2, 3, 4))
check("an empty array", Ulplab.round(zeros(0, 3), "e4m3") == zeros(0, 3) && isempty(Ulplab.round(Float32[], "e4m3")))
check("the argument is not changed", x == numbers("numbers.txt"))

a, b = Ulplab.round(randn(7, 5), "fp16"), Ulplab.round(randn(5, 3), "fp16")
for name in ("h100-fp16", "serial:fp16:rne", "fp32", "serial:fp64:rne")
    product = Ulplab.matmul(a, b, name)
    dots = [Ulplab.dot(a[i, :], b[:, j], name) for i in 1:7, j in 1:3]
    check("a product of 7 x 5 and 5 x 3 has the bits of its dots, $name", isequal(product, dots) && eltype(product) == eltype(dots))
end
check("transposed operands", Ulplab.matmul(b', a', "h100-fp16") == Ulplab.matmul(a, b, "h100-fp16")')
check("operands of two formats keep their order",
      Ulplab.matmul([1.125 1; 0 1], reshape([57344.0, 1024], 2, 1), "h100-e4m3.e5m2") == reshape([65536, 1024], 2, 1))
check("start values", Ulplab.matmul([1.0 2 3; 4 5 6], [1.0 0; 0 1; 1 1], c=[10.0 20; 30 40]) == [14 25; 40 51])
check("no products", isequal(Ulplab.matmul(zeros(2, 0), zeros(0, 3)), zeros(Float32, 2, 3)))
check("no rows", size(Ulplab.matmul(zeros(0, 3), zeros(3, 2))) == (0, 2))
check("an empty dot is its start", Ulplab.dot(Float64[], Float64[], c=2.0) === 2.0f0)
check("NaN and infinity", isnan(Ulplab.dot([NaN, 1], [1.0, 1])) && Ulplab.dot([Inf, 1], [1.0, 1]) == Inf)
check("int8 gives Float64", Ulplab.dot(Float32[100, 3], [100.0, 5], "int8") === 10015.0)
check("cast rounds the operands", Ulplab.dot([0.3, 1], [1.0, 1], "h100-e4m3", cast="rne") === 1.3125f0)
r(k) = Ulplab.matmul(a, b, "serial:bf16:sr/8", cast="rne", seed=k)
check("a seed repeats a product", r(1) == r(1) && r(1) != r(2))

refuses(() -> Ulplab.round(1.0, "e4m3x"), ArgumentError, "e4m3x")
refuses(() -> Ulplab.round(1.0, "e4m3", "foo"), ArgumentError, "there are: rne")
refuses(() -> Ulplab.round(1.0, "e4m3", "sr", bits=40), ArgumentError, "bits is 40; random bits are 1 to 32")
refuses(() -> Ulplab.round(1.0, "e4m3", "sr", seed=-1), ArgumentError, "seed is -1; it must be a whole number")
refuses(() -> Ulplab.round(1.0, "e4m3", overflow="wrap"), ArgumentError, "only fixed point wraps around")
refuses(() -> Ulplab.round(1f0, "fp64"), ArgumentError, "give an array of binary64")
refuses(() -> Ulplab.round([1, 2], "e4m3"), ArgumentError, "Int64")
refuses(() -> Ulplab.round(1.0, "e4m3\0"), ArgumentError, "NUL")
refuses(() -> Ulplab.dot([0.1], [1.0]), ArgumentError, "a[1] is 0.1")
refuses(() -> Ulplab.dot([1.0, 1], [1, 0.25390625], "h100-e4m3"), ArgumentError, "b[2] is 0.25390625, no value of e4m3")
refuses(() -> Ulplab.dot([1.0], [1.0], "serial:fp16:rne", c=0.1f0), ArgumentError, "c[1] is 0.1")
refuses(() -> Ulplab.dot([1.0], [1.0], "h100x"), ArgumentError, "no datapath 'h100x'")
refuses(() -> Ulplab.dot([1, 2], [1.0, 2]), ArgumentError, "Float32 or Float64")
refuses(() -> Ulplab.dot([1.0], [1.0, 2]), DimensionMismatch, "a has 1 elements and b 2")
refuses(() -> Ulplab.matmul(ones(2, 3), ones(2, 3)), DimensionMismatch, "a is 2 x 3 and b is 2 x 3")
refuses(() -> Ulplab.matmul(ones(2, 2), ones(2, 2), c=ones(1, 1)), DimensionMismatch, "the result is 2 x 2")
println("# all is done")
