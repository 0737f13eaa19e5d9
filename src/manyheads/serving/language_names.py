"""English names of languages, as CLDR has them, for a server that is installed without babel."""

from __future__ import annotations


def _table(text: str) -> dict[str, str]:
    """Return what is written as 'code name, code name' as a dictionary."""
    entries = (entry.strip().partition(" ") for entry in text.replace("\n", " ").split(","))
    return {code: name for code, _, name in entries}


LANGUAGES = _table("""
aa Afar, ab Abkhazian, ae Avestan, af Afrikaans, ak Akan, am Amharic, an Aragonese, ar Arabic, as Assamese, av
Avaric, ay Aymara, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian, bi Bislama, bm Bambara, bn Bangla, bo
Tibetan, br Breton, bs Bosnian, ca Catalan, ce Chechen, ch Chamorro, co Corsican, cr Cree, cs Czech, cu Church
Slavic, cv Chuvash, cy Welsh, da Danish, de German, dv Divehi, dz Dzongkha, ee Ewe, el Greek, en English, eo
Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, ff Fula, fi Finnish, fj Fijian, fo Faroese, fr French, fy
Western Frisian, ga Irish, gd Scottish Gaelic, gl Galician, gn Guarani, gu Gujarati, gv Manx, ha Hausa, he Hebrew,
hi Hindi, ho Hiri Motu, hr Croatian, ht Haitian Creole, hu Hungarian, hy Armenian, hz Herero, ia Interlingua, id
Indonesian, ie Interlingue, ig Igbo, ii Sichuan Yi, ik Inupiaq, io Ido, is Icelandic, it Italian, iu Inuktitut, ja
Japanese, jv Javanese, ka Georgian, kg Kongo, ki Kikuyu, kj Kuanyama, kk Kazakh, kl Kalaallisut, km Khmer, kn
Kannada, ko Korean, kr Kanuri, ks Kashmiri, ku Kurdish, kv Komi, kw Cornish, ky Kyrgyz, la Latin, lb Luxembourgish,
lg Ganda, li Limburgish, ln Lingala, lo Lao, lt Lithuanian, lu Luba-Katanga, lv Latvian, mg Malagasy, mh
Marshallese, mi Māori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, na
Nauru, nb Norwegian Bokmål, nd North Ndebele, ne Nepali, ng Ndonga, nl Dutch, nn Norwegian Nynorsk, no Norwegian, nr
South Ndebele, nv Navajo, ny Nyanja, oc Occitan, oj Ojibwa, om Oromo, or Odia, os Ossetic, pa Punjabi, pi Pali, pl
Polish, ps Pashto, pt Portuguese, qu Quechua, rm Romansh, rn Rundi, ro Romanian, ru Russian, rw Kinyarwanda, sa
Sanskrit, sc Sardinian, sd Sindhi, se Northern Sami, sg Sango, sh Serbo-Croatian, si Sinhala, sk Slovak, sl
Slovenian, sm Samoan, sn Shona, so Somali, sq Albanian, sr Serbian, ss Swati, st Southern Sotho, su Sundanese, sv
Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, ti Tigrinya, tk Turkmen, tl Tagalog, tn Tswana, to
Tongan, tr Turkish, ts Tsonga, tt Tatar, tw Twi, ty Tahitian, ug Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, ve Venda,
vi Vietnamese, vo Volapük, wa Walloon, wo Wolof, xh Xhosa, yi Yiddish, yo Yoruba, za Zhuang, zh Chinese, zu Zulu,
ace Acehnese, ary Moroccan Arabic, arz Egyptian Arabic, ceb Cebuano, ckb Central Kurdish, crh Crimean Tatar, ext
Extremaduran, fil Filipino, grc Ancient Greek, haw Hawaiian, hmn Hmong, kab Kabyle, lij Ligurian, ltg Latgalian, mul
Multiple languages, nso Northern Sotho, pcm Nigerian Pidgin, sdh Southern Kurdish, und Unknown language, vec
Venetian, wuu Wu Chinese, yue Cantonese
""")

SCRIPTS_AND_REGIONS = _table("""
Arab Arabic, Cyrl Cyrillic, Hans Simplified, Hant Traditional, Latn Latin, 419 Latin America, AE United Arab
Emirates, AR Argentina, AT Austria, AU Australia, BE Belgium, BR Brazil, CA Canada, CH Switzerland, CL Chile, CN
China, CO Colombia, CZ Czechia, DE Germany, DK Denmark, EG Egypt, ES Spain, FI Finland, FR France, GB United
Kingdom, GR Greece, HK Hong Kong SAR China, HU Hungary, IE Ireland, IL Israel, IN India, IR Iran, IT Italy, JP
Japan, KR South Korea, LU Luxembourg, MA Morocco, MO Macao SAR China, MX Mexico, MY Malaysia, NG Nigeria, NL
Netherlands, NO Norway, NZ New Zealand, PE Peru, PH Philippines, PK Pakistan, PL Poland, PT Portugal, RO Romania, RU
Russia, SA Saudi Arabia, SE Sweden, SG Singapore, TR Türkiye, TW Taiwan, UA Ukraine, US United States, VE Venezuela,
ZA South Africa
""")


def language_name(code: str) -> str:
    """Return the English name of a language, such as Portuguese (Brazil) for `pt-BR`; its code if it has no name."""
    language, *parts = code.split("-")
    if language not in LANGUAGES:
        return code
    name = LANGUAGES[language]
    return f"{name} ({', '.join(SCRIPTS_AND_REGIONS.get(part, part) for part in parts)})" if parts else name
