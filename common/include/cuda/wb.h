/* wb.h - the most used functions of libwb, the support library of a GPU course: options, data
 * files, comparison with the expected output, log and timer.
 *
 * A data file is text: a line with the number of elements, or of rows and columns, and then the
 * values.  Images are not supported.  The text is the workbook's own. */
#ifndef SIMULATE_WB_H
#define SIMULATE_WB_H

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <cuda_runtime.h>

/* ---- options --------------------------------------------------------------------------------- */

/* -i in0,in1 -e expected -o output -t vector; NULL stands for a file that is not given. */
struct wbArg_t {
    std::vector<std::string> input;
    std::string expected, output, type;
};

inline wbArg_t wbArg_read(int argc, char **argv)
{
    wbArg_t arguments;
    for (int i = 1; i + 1 < argc; i++) {
        const std::string option = argv[i], value = argv[i + 1];
        if (option == "-i" || option == "--input") {
            std::stringstream names(value);
            for (std::string name; std::getline(names, name, ',');)
                arguments.input.push_back(name);
        } else if (option == "-e" || option == "--expected") {
            arguments.expected = value;
        } else if (option == "-o" || option == "--output") {
            arguments.output = value;
        } else if (option == "-t" || option == "--type") {
            arguments.type = value;
        } else {
            continue;
        }
        i++;
    }
    return arguments;
}

inline const char *wbArg_getInputFile(const wbArg_t &arguments, int which)
{
    if (which < 0 || static_cast<std::size_t>(which) >= arguments.input.size()) {
        std::fprintf(stderr, "wb.h: there is no input file %d: give -i file0,file1\n", which);
        std::exit(1);
    }
    return arguments.input[static_cast<std::size_t>(which)].c_str();
}

inline int wbArg_getInputCount(const wbArg_t &arguments)
{
    return static_cast<int>(arguments.input.size());
}

/* ---- data files ------------------------------------------------------------------------------ */

/* Reads `dimensions` sizes and the values after them; the result is allocated with malloc. */
template <class T> inline T *simulate_wb_read(const char *file, int dimensions, int *sizes)
{
    std::ifstream from(file);
    std::string line;
    std::size_t count = 1;
    bool is_good = static_cast<bool>(std::getline(from, line));
    std::istringstream first(line);
    for (int i = 0; i < dimensions && is_good; i++) {
        is_good = static_cast<bool>(first >> sizes[i]) && sizes[i] >= 0;
        if (!is_good && i) sizes[i] = 1, is_good = true; /* a matrix of one column */
        if (is_good) count *= static_cast<std::size_t>(sizes[i]);
    }
    T *values = static_cast<T *>(std::malloc(count * sizeof(T) + 1));
    for (std::size_t i = 0; i < count && is_good; i++) {
        double value;
        is_good = static_cast<bool>(from >> value);
        values[i] = static_cast<T>(value);
    }
    if (is_good) return values;
    std::fprintf(stderr, "wb.h: %s is not a data file: it needs its sizes and then the values\n",
                 file);
    std::exit(1);
}

inline void *wbImport(const char *file, int *length, const char *type = "Real")
{
    if (!std::strcmp(type, "Integer")) return simulate_wb_read<int>(file, 1, length);
    return simulate_wb_read<float>(file, 1, length);
}

inline void *wbImport(const char *file, int *rows, int *columns, const char *type = "Real")
{
    int sizes[2] = {0, 0};
    void *values = !std::strcmp(type, "Integer")
                       ? static_cast<void *>(simulate_wb_read<int>(file, 2, sizes))
                       : static_cast<void *>(simulate_wb_read<float>(file, 2, sizes));
    *rows = sizes[0], *columns = sizes[1];
    return values;
}

template <class T>
inline void wbExport(const char *file, const T *values, int rows, int columns = 1)
{
    std::ofstream to(file);
    to << rows;
    if (columns != 1) to << ' ' << columns;
    for (int i = 0; i < rows * columns; i++)
        to << (i % columns ? ' ' : '\n') << values[i];
    to << '\n';
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* Compares with the expected output; the tolerance is 0.1 % of the value, or 0.001. */
template <class T>
inline bool wbSolution(const wbArg_t &arguments, const T *values, int rows, int columns = 1)
{
    int sizes[2] = {0, 0};
    const int count = rows * columns;
    if (!arguments.output.empty()) wbExport(arguments.output.c_str(), values, rows, columns);
    if (arguments.expected.empty()) {
        std::printf("The solution has no expected output to compare with: give -e file\n");
        return false;
    }
    T *expected = simulate_wb_read<T>(arguments.expected.c_str(), 2, sizes);
    bool is_right = sizes[0] * sizes[1] == count;
    if (!is_right)
        std::printf("The solution has %d elements; %d are expected\n", count, sizes[0] * sizes[1]);
    for (int i = 0; i < count && is_right; i++) {
        const double wanted = static_cast<double>(expected[i]),
                     value = static_cast<double>(values[i]);
        is_right = std::fabs(value - wanted) <= std::fmax(1e-3, 1e-3 * std::fabs(wanted));
        if (!is_right)
            std::printf("The solution is wrong at element %d: expected %g, got %g\n", i, wanted,
                        value);
    }
    std::free(expected);
    if (is_right) std::printf("The solution is correct\n");
    return is_right;
}

/* ---- log and timer --------------------------------------------------------------------------- */

inline void simulate_wb_print(std::ostream &to)
{
    to << std::endl;
}

template <class First, class... Others>
inline void simulate_wb_print(std::ostream &to, const First &first, const Others &...others)
{
    to << first;
    simulate_wb_print(to, others...);
}

#define wbLog(level, ...) (std::cout << #level << ": ", simulate_wb_print(std::cout, __VA_ARGS__))

inline std::map<std::string, std::chrono::steady_clock::time_point> &simulate_wb_timers()
{
    static std::map<std::string, std::chrono::steady_clock::time_point> timers;
    return timers;
}

/* Host clocks measure the simulation, so their values are written to stderr. */
inline void simulate_wb_time(const char *kind, const std::string &message, bool starts)
{
    const std::string key = kind + (" " + message);
    if (starts) {
        simulate_wb_timers()[key] = std::chrono::steady_clock::now();
        return;
    }
    const std::chrono::duration<double, std::milli> since =
        std::chrono::steady_clock::now() - simulate_wb_timers()[key];
    std::fprintf(stderr, "[%s] %.3f ms %s\n", kind, since.count(), message.c_str());
}

#define wbTime_start(kind, ...) simulate_wb_time(#kind, std::string(__VA_ARGS__), true)
#define wbTime_stop(kind, ...)  simulate_wb_time(#kind, std::string(__VA_ARGS__), false)

#endif
