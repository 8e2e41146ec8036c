"""
    Ulplab

Low-precision arithmetic in Julia: rounding to any format in any mode, and sums of products as Tensor Cores form them, by
the functions of `kernels/foreign` in the library libulp. Every result is the exact result rounded once.

    include("languages/Ulplab.jl")
    Ulplab.round(Float32[0.01, 464, 1e6], "e4m3")
    Ulplab.dot([1.0, -1.0], [1.0, 1.0], "h100-fp16")
    Ulplab.matmul(a, b, "a100-fp16")

The library is the file `ULPLAB_LIBRARY` of the environment, else `build/lib/libulp.so` of the source tree, else the
installed `libulp.so.0.9`. Errors are `ArgumentError`, `OutOfMemoryError` and, of a missing device, `ErrorException`, with the
library's sentence.
"""
module Ulplab

using Libdl

const handle = Ref{Ptr{Cvoid}}(C_NULL)

function __init__()
    built = joinpath(@__DIR__, "..", "build", "lib", "libulp.so")
    handle[] = dlopen(get(ENV, "ULPLAB_LIBRARY", isfile(built) ? built : "libulp.so.0.9"))
end

"The address of the function ulp_foreign_NAME."
call(name) = dlsym(handle[], Symbol("ulp_foreign_", name))

const Float = Union{Float32,Float64}
# ulp_status
const NO_CODE, NO_NAN, NO_MEMORY, NO_DEVICE, DEVICE_FAILED = 4, 5, 7, 8, 10
# the texts and integers of a datapath
const TEXT_A, TEXT_B, TEXT_RESULT, INTEGER_FITS_BINARY32 = 1, 2, 5, 2

"Throws the exception of a status that is not 0."
function check(status)
    status == 0 && return
    status == NO_MEMORY && throw(OutOfMemoryError())
    sentence = unsafe_string(ccall(call(:error), Cstring, ()))
    status in (NO_DEVICE, DEVICE_FAILED) && error(sentence)
    throw(ArgumentError(sentence))
end

"Calls use(object) and releases the object of the library."
function with(use, object)
    try
        return use(object)
    finally
        ccall(call(:release), Cvoid, (Ptr{Cvoid},), object)
    end
end

"A whole number as a T; ArgumentError if it is none."
whole(::Type{T}, n, name) where {T} =
    0 <= n <= typemax(T) ? T(n) : throw(ArgumentError("$name is $n; it must be a whole number from 0 to $(typemax(T))"))
words(seed, stream, first) = (whole(UInt64, seed, "seed"), whole(UInt64, stream, "stream"), whole(UInt64, first, "first"))

# ---- rounding ----

function rounder(format, mode, overflow, bits, backend)
    made = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(call(:rounder), Cint, (Ptr{Ptr{Cvoid}}, Cstring, Cstring, Cstring, Cint, Cstring),
                made, format, mode, overflow, whole(Cint, bits, "bits"), backend))
    return made[]
end

"""
    round(x, format, mode="rne"; bits=0, overflow="default", seed=0, stream=0, first=0, backend="cpu")

`x` rounded to a format, with the type and the shape of `x`: a `Float32`, a `Float64` or an array of them.

`mode`: `rne`, `rna`, `rnu`, `rnz`, `rnd`, `rz`, `ru`, `rd`, `ro`, `sr` (stochastic, with `bits` random bits, 0 for 32); `ulp
help modes` lists all. `overflow`: `inf`, `sat`, `sym`, `nan`, `zero`, `wrap` or the format's own. `x[i]` takes the word of (seed, stream, first + i - 1), for
any number of threads and any instruction set. A `Float32` array holds values of formats that fit binary32.

    Ulplab.round(Float32[0.01, 464, 1e6], "e4m3") == Float32[0.009765625, 448, 448]
"""
function round(x::Array{T}, format::AbstractString, mode::AbstractString="rne"; bits::Integer=0,
               overflow::AbstractString="default", seed::Integer=0, stream::Integer=0, first::Integer=0,
               backend::AbstractString="cpu") where {T<:Float}
    y = similar(x)
    of_seed, of_stream, of_first = words(seed, stream, first)
    with(rounder(format, mode, overflow, bits, backend)) do r
        check(ccall(call(:round_any), Cint,
                    (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Cint, UInt64, UInt64, UInt64, Ptr{UInt64}),
                    r, y, x, length(x), T === Float64, of_seed, of_stream, of_first, C_NULL))
    end
    return y
end
round(x::AbstractArray{<:Float}, format::AbstractString, mode::AbstractString="rne"; options...) =
    round(Array(x), format, mode; options...)
round(x::Float, format::AbstractString, mode::AbstractString="rne"; options...) = round([x], format, mode; options...)[1]
round(x, format::AbstractString, mode::AbstractString="rne"; options...) =
    throw(ArgumentError("x is of type $(typeof(x)); it must be a Float32, a Float64 or an array of one of them"))

# ---- products ----

function datapath(name)
    made = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall(call(:datapath), Cint, (Ptr{Ptr{Cvoid}}, Cstring), made, name))
    return made[]
end

text(d, which) = unsafe_string(ccall(call(:datapath_text), Cstring, (Ptr{Cvoid}, Cint), d, which))
fits_binary32(d) = ccall(call(:datapath_integer), Cint, (Ptr{Cvoid}, Cint), d, INTEGER_FITS_BINARY32) != 0
advice(name) = name == "c" ? "" : ", or give cast=\"rne\""

"Refuses an element that is no value of the format."
function check_values(x::Array{T}, name, format) where {T}
    isempty(format) && return
    made, at, codes = Ref{Ptr{Cvoid}}(C_NULL), Ref{Csize_t}(0), Vector{UInt64}(undef, length(x))
    check(ccall(call(:format), Cint, (Ptr{Ptr{Cvoid}}, Cstring), made, format))
    with(made[]) do f
        status = ccall(call(:encode), Cint,
                       (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Ptr{Cvoid}, Cint, Csize_t, Ptr{Csize_t}),
                       f, codes, 8, x, T === Float64, length(x), at)
        if status in (NO_CODE, NO_NAN)
            i = Int(at[]) + 1
            throw(ArgumentError("$name[$i] is $(x[i]), no value of $format; round $name first$(advice(name))"))
        end
        check(status)
    end
end

"The elements of an operand as an array of T, rounded to the format by the mode `cast` if it is given."
function operand(::Type{T}, x, name, format, cast) where {T<:Float}
    eltype(x) <: Float || throw(ArgumentError("$name is of type $(typeof(x)); its elements must be Float32 or Float64"))
    y = Array(x)
    if T === Float64
        y = Array{Float64}(y)
    end
    if cast !== nothing
        y = round(y, isempty(format) ? (T === Float64 ? "binary64" : "binary32") : format, cast)
    end
    narrow = Array{T}(y)
    for i in eachindex(y)
        narrow[i] == y[i] || isnan(y[i]) ||
            throw(ArgumentError("$name[$i] is $(y[i]), no $T; round $name first$(advice(name))"))
    end
    return narrow
end

"A matrix in the order of rows: the transposed one in memory."
by_rows(x) = Array(permutedims(x))

"""
    matmul(a, b, datapath="fp32"; c=nothing, cast=nothing, seed=0, stream=0, first=0, backend="cpu")

`c + a b` of matrices `a` (m, k) and `b` (k, n), every sum of products formed as the datapath says, as `"h100-e4m3"`,
`"serial:fp16:rne"`; `ulp help datapaths` lists them.

Operands are values of the datapath's input formats; `cast` is the mode that rounds them to these formats. `c` (m, n) has the
start values of the sums. The result has elements of `Float32`, or of `Float64` if the result format does not fit binary32
(int32 of `int8`, binary64 of `serial:fp64:rne`). Stochastic sums take their random words in the order of rows, as in C and
Python.
"""
function matmul(a::AbstractMatrix, b::AbstractMatrix, name::AbstractString="fp32"; c=nothing, cast=nothing,
                seed::Integer=0, stream::Integer=0, first::Integer=0, backend::AbstractString="cpu")
    (m, k), n = size(a), size(b, 2)
    size(b, 1) == k ||
        throw(DimensionMismatch("a is $m x $k and b is $(size(b, 1)) x $n; a needs as many columns as b has rows"))
    of_seed, of_stream, of_first = words(seed, stream, first)
    c === nothing || size(c) == (m, n) || throw(DimensionMismatch("c is of size $(size(c)); the result is $m x $n"))
    with(datapath(name)) do d
        T = fits_binary32(d) ? Float32 : Float64
        left, right = operand(T, a, "a", text(d, TEXT_A), cast), operand(T, b, "b", text(d, TEXT_B), cast)
        rows = zeros(T, n, m) # row by row, as C has matrices
        if c !== nothing
            start = operand(T, c, "c", text(d, TEXT_RESULT), nothing)
            check_values(start, "c", text(d, TEXT_RESULT))
            rows = by_rows(start)
        end
        # Julia's matrices are transposed ones for C: no operand is copied
        shape = UInt64[m, n, k, max(m, 1), max(k, 1), max(n, 1), 1, 1, c !== nothing]
        status = ccall(call(:gemm), Cint,
                       (Ptr{Cvoid}, Cstring, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{UInt64}, Cint, Ptr{Float32},
                        Ptr{Float32}, UInt64, UInt64, UInt64),
                       d, backend, rows, left, right, shape, T === Float64, C_NULL, C_NULL, of_seed, of_stream, of_first)
        if status == NO_CODE
            check_values(left, "a", text(d, TEXT_A))
            check_values(right, "b", text(d, TEXT_B))
        end
        check(status)
        return by_rows(rows)
    end
end

"""
    dot(a, b, datapath="fp32"; c=0, options...)

`c` + the sum of `a[i] b[i]`, formed as a datapath says; the options of [`matmul`](@ref).

    Ulplab.dot([1, -1, 2.0^-10, 2.0^-10], [1, 1, 2.0^-15, 2.0^-15], "h100-fp16") == 2.0f0^-24
"""
function dot(a::AbstractVector, b::AbstractVector, name::AbstractString="fp32"; c=nothing, options...)
    length(a) == length(b) || throw(DimensionMismatch("a has $(length(a)) elements and b $(length(b))"))
    start = c === nothing ? nothing : fill(c, 1, 1)
    return matmul(reshape(a, 1, :), reshape(b, :, 1), name; c=start, options...)[1]
end

end
