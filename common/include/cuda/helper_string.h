/* helper_string.h - command-line options of programs derived from NVIDIA's samples.
 *
 * An option is "name" or "name=value" after one or two dashes; names match without regard to case.
 * The text is the workbook's own; the functions are those that such programs call. */
#ifndef SIMULATE_HELPER_STRING_H
#define SIMULATE_HELPER_STRING_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP  strcasecmp
#define STRNCASECMP strncasecmp
#endif
#ifndef FOPEN
#define FOPEN(file, name, mode) ((file) = std::fopen(name, mode))
#define SPRINTF                 std::sprintf
#define SSCANF                  std::sscanf
#endif

inline int stringRemoveDelimiter(char delimiter, const char *text)
{
    int n = 0;
    while (text[n] == delimiter)
        n++;
    return n;
}

inline int getFileExtension(char *name, char **extension)
{
    char *dot = std::strrchr(name, '.');
    *extension = dot ? dot + 1 : name + std::strlen(name);
    return dot ? static_cast<int>(dot - name) : static_cast<int>(std::strlen(name));
}

/* The text after the option's name, or NULL if the option is not given. */
inline const char *simulate_option(int argc, const char **argv, const char *name)
{
    const std::size_t length = std::strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + stringRemoveDelimiter('-', argv[i]);
        if (word == argv[i] || strncasecmp(word, name, length)) continue;
        if (word[length] == '\0' || word[length] == '=') return word + length;
    }
    return nullptr;
}

inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name)
{
    return simulate_option(argc, argv, name) != nullptr;
}

inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name)
{
    const char *value = simulate_option(argc, argv, name);
    return value && *value == '=' ? std::atoi(value + 1) : 0;
}

inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name)
{
    const char *value = simulate_option(argc, argv, name);
    return value && *value == '=' ? static_cast<float>(std::atof(value + 1)) : 0;
}

template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char **argv, const char *name, T *result)
{
    const char *value = simulate_option(argc, argv, name);
    if (value && *value == '=') *result = static_cast<T>(std::atof(value + 1));
    return value != nullptr;
}

inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name,
                                     char **result)
{
    const char *value = simulate_option(argc, argv, name);
    *result = value && *value == '=' ? const_cast<char *>(value + 1) : nullptr;
    return *result != nullptr;
}

/* The path of an input file: as named, or in ./data, or below the program's own folder.  The
 * caller frees it.  NULL if there is no such file. */
inline char *sdkFindFilePath(const char *name, const char *program)
{
    std::string folder = program ? program : "";
    folder.erase(folder.find_last_of('/') == std::string::npos ? 0 : folder.find_last_of('/') + 1);
    const std::string tried[] = {name, std::string("data/") + name, std::string("../data/") + name,
                                 folder + name, folder + "data/" + name};
    for (const std::string &path : tried) {
        std::FILE *file = std::fopen(path.c_str(), "rb");
        if (!file) continue;
        std::fclose(file);
        return strdup(path.c_str());
    }
    return nullptr;
}

#endif
